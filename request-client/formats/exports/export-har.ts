import { assertNever } from '#troupe/base/assert-never.js';
import { writtenRequest } from '../../curl/export/written-request.js';
import { basic } from '../../engine/basic-auth.js';
import type { Collection } from '../../engine/collection/collection.js';
import type { JsonObject } from '../../engine/collection/json-access.js';
import { requestsBelow } from '../../engine/collection-run/collection-runner.js';
import type { HeaderEntry, RequestBody } from '../../engine/request.js';
import type { Findings } from '../imports/findings.js';

/** A collection as an HTTP archive (version 1.2), without responses. Folders and scripts have no place in it. */
export function exportHar(collection: Collection, findings: Findings): string {
  const nodes = collection.items.flatMap(requestsBelow);
  const entries = nodes.map((node) => {
    const { request, warnings } = writtenRequest(collection, node);
    for (const warning of warnings) findings.warn(node.name, 'auth', warning);
    const { method, url, headers, auth, body } = request;
    if (auth !== null && auth.kind !== 'basic')
      findings.warn(node.name, auth.kind, `A HAR archive cannot contain ${auth.kind} authorization`);
    const all: readonly HeaderEntry[] =
      auth?.kind === 'basic' ? [{ name: 'Authorization', value: basic(auth) }, ...headers] : headers;
    const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
    return {
      startedDateTime: '1970-01-01T00:00:00.000Z',
      time: 0,
      request: {
        method,
        url,
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: all,
        queryString: queryOf(url),
        ...postData(body, type, node.name, findings),
        headersSize: -1,
        bodySize: -1,
        comment: node.name,
      },
      response: {
        status: 0,
        statusText: '',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: [],
        content: { size: 0, mimeType: '' },
        redirectURL: '',
        headersSize: -1,
        bodySize: -1,
      },
      cache: {},
      timings: { send: 0, wait: 0, receive: 0 },
    };
  });
  const log = { version: '1.2', creator: { name: 'Troupe', version: '1' }, entries, comment: collection.name };
  return `${JSON.stringify({ log }, null, 2)}\n`;
}

function queryOf(url: string): JsonObject[] {
  const [, query] = /\?([^#]*)/.exec(url) ?? [];
  if (query === undefined || query === '') return [];
  return query.split('&').map((pair) => {
    const at = pair.indexOf('=');
    return at === -1 ? { name: pair, value: '' } : { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}

function postData(body: RequestBody, type: string, place: string, findings: Findings): JsonObject {
  switch (body.kind) {
    case 'none':
      return {};
    case 'text':
      return { postData: { mimeType: type, text: body.text } };
    case 'bytes':
      return { postData: { mimeType: type, text: body.base64, encoding: 'base64' } };
    case 'file':
      findings.warn(place, 'file', 'A HAR archive cannot contain a body that is a file');
      return {};
    case 'form':
      return {
        postData: {
          mimeType: 'multipart/form-data',
          params: body.parts.map((part) => ({
            name: part.name,
            ...(part.kind === 'text' ? { value: part.value } : { fileName: part.path }),
            ...(part.type === undefined ? {} : { contentType: part.type }),
          })),
        },
      };
    default:
      return assertNever(body);
  }
}
