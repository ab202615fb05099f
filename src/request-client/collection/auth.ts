import type { UserAuth } from '../request.js';
import type { Collection, CollectionPath } from './collection.js';
import { asObject, listOf, member, textOf } from './json-access.js';

/** What a request of a collection says about authorization, `{{variables}}` not yet put in. */
export type CollectionAuth =
  | { readonly kind: 'none' }
  | UserAuth
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'apikey'; readonly key: string; readonly value: string; readonly in: 'header' | 'query' }
  | { readonly kind: 'oauth2'; readonly settings: ReadonlyMap<string, string> }
  /** Kept in the file, not spoken here. */
  | { readonly kind: 'unknown'; readonly type: string };

/** The auth of the request or folder at `path`: its own, else that of the nearest folder that has one, else the collection's. */
export function authAt(collection: Collection, path: CollectionPath): CollectionAuth {
  for (const place of placesUp(path)) {
    const own = collection.at(authPath(collection, place));
    if (asObject(own) !== undefined) return readAuth(own);
  }
  return { kind: 'none' };
}

/** Where an item keeps its auth: requests inside of `request`; folders, and the collection (the empty path), by themselves. */
export function authPath(collection: Collection, path: CollectionPath): CollectionPath {
  return Array.isArray(collection.at([...path, 'item'])) ? [...path, 'auth'] : [...path, 'request', 'auth'];
}

/** The item itself, then its folders from the inside out, then the collection. */
export function placesUp(path: CollectionPath): CollectionPath[] {
  return Array.from({ length: path.length / 2 + 1 }, (_, up) => path.slice(0, path.length - 2 * up));
}

function readAuth(auth: unknown): CollectionAuth {
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
    default:
      return { kind: 'unknown', type };
  }
}

/** v2.1 has a list of `{key, value, type}`, v2.0 an object. */
export function settingsOf(value: unknown): Map<string, string> {
  const object = asObject(value);
  const entries =
    object === undefined
      ? listOf(value).map((entry) => [textOf(member(entry, 'key')), textOf(member(entry, 'value'))] as const)
      : Object.entries(object).map(([key, entry]) => [key, textOf(entry)] as const);
  return new Map(entries.flatMap(([key, text]) => (key === undefined || text === undefined ? [] : [[key, text]])));
}
