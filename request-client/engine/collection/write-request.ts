import { assertNever } from '#troupe/base/assert-never.js';
import type { RequestBody, RequestDraft } from '../request.js';
import { urlParts } from './address.js';
import type { JsonObject } from './json-access.js';

/** A request as an item of a v2.1 collection that Postman and Newman send in the same way. */
export function writeItem(request: RequestDraft): JsonObject {
  const { name, method, url, headers, body, auth } = request;
  const behaviour = behaviourOf(request);
  return {
    name,
    ...(Object.keys(behaviour).length === 0 ? {} : { protocolProfileBehavior: behaviour }),
    request: {
      ...(auth === null
        ? {}
        : {
            auth: {
              type: auth.kind,
              [auth.kind]: [
                { key: 'username', value: auth.username, type: 'string' },
                { key: 'password', value: auth.password, type: 'string' },
              ],
            },
          }),
      method,
      header: headers.map((header) => ({ key: header.name, value: header.value })),
      ...bodyOf(body),
      url: urlParts(url),
    },
    response: [],
  };
}

function behaviourOf({ method, body, settings, withoutHeaders, headers }: RequestDraft): JsonObject {
  const untyped =
    (body.kind === 'text' || body.kind === 'file') &&
    !headers.some(({ name }) => name.toLowerCase() === 'content-type');
  const off = new Set([...withoutHeaders, ...(untyped ? ['content-type'] : [])]);
  return {
    ...(settings.followRedirects ? {} : { followRedirects: false }),
    ...(settings.maxRedirects === undefined ? {} : { maxRedirects: settings.maxRedirects }),
    ...(settings.keepMethod === true ? { followOriginalHttpMethod: true } : {}),
    ...(settings.keepAuthorization === true ? { followAuthorizationHeader: true } : {}),
    ...(settings.addReferer === true ? { removeRefererHeaderOnRedirect: false } : {}),
    ...(settings.verifyTls ? {} : { strictSSL: false }),
    ...(settings.httpVersion === undefined ? {} : { protocolVersion: settings.httpVersion }),
    ...(settings.encodeUrl ? {} : { disableUrlEncoding: true }),
    ...(body.kind !== 'none' && /^(?:GET|HEAD)$/i.test(method) ? { disableBodyPruning: true } : {}),
    ...(off.size === 0 ? {} : { disabledSystemHeaders: Object.fromEntries([...off].map((name) => [name, true])) }),
  };
}

function bodyOf(body: RequestBody): JsonObject {
  switch (body.kind) {
    case 'none':
      return {};
    case 'text':
      return { body: { mode: 'raw', raw: body.text } };
    case 'bytes':
      // Postman has no form for bytes, and text would change them.
      return { body: { mode: 'raw', raw: '', base64: body.base64 } };
    case 'file':
      return {
        body: { mode: 'file', file: { src: body.path, ...(body.withoutNewlines ? { withoutNewlines: true } : {}) } },
      };
    case 'form':
      return {
        body: {
          mode: 'formdata',
          formdata: body.parts.map((part) => ({
            key: part.name,
            ...(part.kind === 'text' ? { value: part.value, type: 'text' } : { type: 'file', src: part.path }),
            ...(part.type === undefined ? {} : { contentType: part.type }),
            ...(part.kind === 'file' && part.filename !== undefined ? { fileName: part.filename } : {}),
          })),
        },
      };
    default:
      return assertNever(body);
  }
}
