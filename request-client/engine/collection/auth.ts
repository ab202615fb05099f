import type { UserAuth } from '../request.js';
import type { Collection, CollectionPath } from './collection.js';
import { asObject, listOf, member, textOf } from './json-access.js';

/** Kinds of authorization that sign a request, under Postman's names. */
const SIGNED = ['awsv4', 'hawk', 'jwt', 'oauth1'] as const;
export type SignedAuth = (typeof SIGNED)[number];

/** The authorization of a request in a collection, with `{{variables}}` not yet replaced. */
export type CollectionAuth =
  | { readonly kind: 'none' }
  | UserAuth
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'apikey'; readonly key: string; readonly value: string; readonly in: 'header' | 'query' }
  | { readonly kind: 'oauth2'; readonly settings: ReadonlyMap<string, string> }
  /** A header that is computed from the whole request, just before it is sent. */
  | { readonly kind: 'signed'; readonly type: SignedAuth; readonly settings: ReadonlyMap<string, string> }
  /** Kept in the file, but not supported. */
  | { readonly kind: 'unknown'; readonly type: string };

/**
 * The auth of the request or folder at `path`: its own, else that of the nearest folder with one, else the
 * collection's.
 */
export function authAt(collection: Collection, path: CollectionPath): CollectionAuth {
  for (const place of pathsUp(path)) {
    const own = collection.at(authPath(collection, place));
    if (asObject(own) !== undefined) return readAuth(own);
  }
  return { kind: 'none' };
}

/**
 * The path of an item's auth: inside `request` for requests; directly in folders and the collection (the empty path).
 */
export function authPath(collection: Collection, path: CollectionPath): CollectionPath {
  return Array.isArray(collection.at([...path, 'item'])) ? [...path, 'auth'] : [...path, 'request', 'auth'];
}

/** The item itself, then its folders from the inside out, then the collection. */
export function pathsUp(path: CollectionPath): CollectionPath[] {
  return Array.from({ length: path.length / 2 + 1 }, (_, up) => path.slice(0, path.length - 2 * up));
}

/** The authorization that is stored in an `auth` member. */
export function readAuth(auth: unknown): CollectionAuth {
  const type = textOf(member(auth, 'type')) ?? 'noauth';
  const settings = settingsOf(member(auth, type));
  const setting = (key: string): string => settings.get(key) ?? '';
  switch (type) {
    case 'noauth':
      return { kind: 'none' };
    case 'basic':
    case 'digest':
      return { kind: type, username: setting('username'), password: setting('password') };
    case 'bearer':
      return { kind: 'bearer', token: setting('token') };
    case 'apikey': {
      const place = setting('in') === 'query' ? 'query' : 'header';
      return { kind: 'apikey', key: setting('key'), value: setting('value'), in: place };
    }
    case 'oauth2':
      return { kind: 'oauth2', settings };
    case 'ntlm':
      return {
        kind: type,
        username: setting('username'),
        password: setting('password'),
        domain: setting('domain'),
        workstation: setting('workstation'),
      };
    default: {
      const signed = SIGNED.find((one) => one === type);
      return signed === undefined ? { kind: 'unknown', type } : { kind: 'signed', type: signed, settings };
    }
  }
}

/** A list of `{key, value, type}` in v2.1, an object in v2.0. */
export function settingsOf(value: unknown): Map<string, string> {
  const object = asObject(value);
  const entries =
    object === undefined
      ? listOf(value).map((entry) => [textOf(member(entry, 'key')), textOf(member(entry, 'value'))] as const)
      : Object.entries(object).map(([key, entry]) => [key, textOf(entry)] as const);
  return new Map(entries.flatMap(([key, text]) => (key === undefined || text === undefined ? [] : [[key, text]])));
}
