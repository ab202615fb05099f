import { TroupeError } from '../../../protocol/errors.js';
import { type HttpResponse, headerValues } from '../../run/response.js';
import type { SavedAnswer } from '../forms/examples.js';
import { bodyPart, textIn } from './body-part.js';

/** A collection is read as a whole whenever it is opened. */
const MAX_BYTES = 4 * 1024 * 1024;

/** An answer as it is saved with its request. @throws INVALID_REQUEST if its body is no text, or too large */
export async function answerToSave(response: HttpResponse): Promise<SavedAnswer> {
  const { status, statusText, headers, bodyBytes } = response;
  if (bodyBytes > MAX_BYTES)
    throw new TroupeError('INVALID_REQUEST', 'An example has at most 4 MB; Save body writes larger ones to a file');
  const [contentType = ''] = headerValues(headers, 'content-type');
  const body = textIn(await bodyPart(response, 0, bodyBytes), contentType, false);
  if (body === null)
    throw new TroupeError('INVALID_REQUEST', 'Only text can be an example; Save body writes the bytes to a file');
  return { status, statusText, headers, contentType, body };
}
