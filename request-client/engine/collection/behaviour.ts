import type { SendSettings } from '../request.js';
import { pathsUp } from './auth.js';
import type { Collection, CollectionPath } from './collection.js';
import { asObject, type JsonObject, member } from './json-access.js';

/**
 * The `protocolProfileBehavior` of a request or folder: how it is sent, as Postman stores it. Its own members win over those of
 * its folders, and these over the collection's.
 */
export function behaviourAt(collection: Collection, path: CollectionPath): JsonObject {
  const own = pathsUp(path).map((place) => asObject(member(collection.at(place), 'protocolProfileBehavior')) ?? {});
  return Object.assign({}, ...own.reverse());
}

/** How a request is sent, by its behaviour. */
export function sendSettings(behaviour: JsonObject): SendSettings {
  const maxRedirects = redirectLimit(behaviour.maxRedirects);
  return {
    followRedirects: behaviour.followRedirects !== false,
    verifyTls: behaviour.strictSSL !== false,
    encodeUrl: behaviour.disableUrlEncoding !== true,
    ...httpVersionIn(behaviour.protocolVersion),
    ...(maxRedirects === null ? {} : { maxRedirects }),
    ...(behaviour.followOriginalHttpMethod === true ? { keepMethod: true } : {}),
    ...(behaviour.followAuthorizationHeader === true ? { keepAuthorization: true } : {}),
    ...(behaviour.removeRefererHeaderOnRedirect === false ? { addReferer: true } : {}),
  };
}

/** A limit of redirects; null if it is none. */
export function redirectLimit(value: unknown): number | null {
  const limit = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 ? limit : null;
}

/** Postman's `protocolVersion`; empty for the automatic choice. */
export function httpVersionIn(value: unknown): Pick<SendSettings, 'httpVersion'> {
  return value === 'http1' || value === 'http2' ? { httpVersion: value } : {};
}
