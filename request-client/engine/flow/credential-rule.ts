import { TroupeError } from '#troupe/protocol/errors.js';
import type { Collection } from '../collection/collection.js';
import { readRequest } from '../collection/read-request.js';
import { isCredentialHeader } from '../collection/secret-names.js';
import { requestsBelow } from '../collection-run/collection-runner.js';
import type { Scopes } from '../collection-run/scripts.js';
import type { RequestBody } from '../request.js';
import type { PreparedRequest } from '../run/prepared-request.js';
import { type RequestTarget, requestTarget } from '../run/request-target.js';
import { collectionOrigins, originOf } from './collection-origins.js';
import { CollectionSecrets } from './collection-secrets.js';
import { ORIGINS_FILE, type OriginList } from './origin-list.js';

const MASK = '********';

/**
 * Sends credentials of a collection only to origins that the collection itself names, or `requests/origins.json`. A
 * script chooses variables, and so the target of a request, but must not choose who gets the collection's secrets. A
 * request carries credentials if it has authorization of any kind, a header with a secret name, a secret of the
 * collection anywhere, or a file that the collection does not name.
 */
export class CredentialRule {
  readonly #collection: Collection;
  readonly #scopes: Scopes;
  readonly #origins: OriginList;
  readonly #secrets: CollectionSecrets;
  #own: ReadonlySet<string> | null = null;

  /** @param scopes the variables of the run, read at each request */
  constructor(collection: Collection, scopes: Scopes, origins: OriginList) {
    this.#collection = collection;
    this.#scopes = scopes;
    this.#origins = origins;
    this.#secrets = new CollectionSecrets(collection);
  }

  /** @throws REQUEST_FAILED with the entry that would allow the origin */
  assert(request: PreparedRequest, target: RequestTarget): void {
    const carried = this.#carried(request, target);
    if (carried === null) return;
    const origin = originOf(target);
    this.#own ??= collectionOrigins(this.#collection);
    if (this.#own.has(origin) || this.#origins.has(origin)) return;
    const shown = this.#shown(request.url, origin);
    const { fault } = this.#origins;
    const file = `requests/${ORIGINS_FILE}`;
    const remedy =
      fault === null
        ? `to send them there, add "${shown}" to ${file}, a JSON array of origins`
        : `to allow it, repair ${file}, which is not valid: ${fault}`;
    throw new TroupeError(
      'REQUEST_FAILED',
      `The request carries credentials (${carried}), and its collection does not name ${shown}; ${remedy}`,
      { cause: 'ORIGIN', origin: shown },
    );
  }

  /** Masks the secrets of the collection in a text. */
  mask(text: string): string {
    let masked = text;
    for (const value of this.#secrets.values(this.#scopes)) masked = masked.replaceAll(value, MASK);
    return masked;
  }

  /** An origin for people: a secret in a URL may have become part of the host name. */
  #shown(url: string, origin: string): string {
    const masked = this.mask(url);
    if (masked === url) return this.mask(origin);
    try {
      return originOf(requestTarget(masked, true));
    } catch {
      return MASK;
    }
  }

  /** What makes a request carry credentials, for people; null if nothing does. */
  #carried({ auth, headers, url, body, jarCookies = '' }: PreparedRequest, target: RequestTarget): string | null {
    if (auth !== null && auth !== undefined) return 'its authorization';
    if (target.user !== null) return 'a user name in its URL';
    const header = headers.find(({ name }) => isCredentialHeader(name));
    if (header !== undefined) return `the header ${header.name}`;
    const texts = [
      url,
      target.host,
      target.path,
      // Cookies return to who set them, but scripts set some, too.
      jarCookies,
      ...headers.flatMap(({ name, value }) => [name, value]),
      ...textsOf(body),
    ];
    for (const value of this.#secrets.values(this.#scopes)) {
      if (texts.some((text) => text.includes(value))) return 'a secret of the collection';
    }
    const named = filesOf(body);
    if (named.length === 0) return null;
    const own = new Set(
      this.#collection.items
        .flatMap((item) => requestsBelow(item))
        .flatMap(({ value }) => filesOf(readRequest(value, { disableBodyPruning: true }).body)),
    );
    return named.every((path) => own.has(path)) ? null : 'a file that the collection does not name';
  }
}

function textsOf(body: RequestBody): readonly string[] {
  switch (body.kind) {
    case 'text':
      return [body.text];
    case 'bytes':
      return [body.base64, Buffer.from(body.base64, 'base64').toString('utf8')];
    case 'form':
      return body.parts.flatMap((part) => [part.name, part.kind === 'text' ? part.value : part.path]);
    default:
      return [];
  }
}

function filesOf(body: RequestBody): readonly string[] {
  if (body.kind === 'file') return [body.path];
  return body.kind === 'form' ? body.parts.flatMap((part) => (part.kind === 'file' ? [part.path] : [])) : [];
}
