import type { UserAuth } from '../request.js';
import type { Collection, CollectionPath } from './collection.js';
import { asObject, enabledPairs, listOf, member, textOf } from './json-access.js';

/** Kinds of authorization that sign a request, under Postman's names. */
const SIGNED = ['awsv4', 'hawk', 'jwt', 'oauth1'] as const;
export type SignedAuth = (typeof SIGNED)[number];

/** A parameter of the user's own for one of the requests of OAuth 2.0. */
export interface OAuthParameter {
  readonly of: 'login' | 'token' | 'refresh';
  readonly name: string;
  readonly value: string;
  readonly in: 'body' | 'url' | 'header';
}

/** The authorization of a request in a collection, with `{{variables}}` not yet replaced. */
export type CollectionAuth =
  | { readonly kind: 'none' }
  | UserAuth
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'apikey'; readonly key: string; readonly value: string; readonly in: 'header' | 'query' }
  | {
      readonly kind: 'oauth2';
      readonly settings: ReadonlyMap<string, string>;
      readonly parameters: readonly OAuthParameter[];
    }
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
      return { kind: 'oauth2', settings, parameters: oauthParameters(member(auth, type)) };
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

/** The settings that are texts. */
export function settingsOf(value: unknown): Map<string, string> {
  return new Map(
    authEntries(value).flatMap(([key, stored]) => {
      const text = textOf(stored);
      return text === undefined ? [] : [[key, text] as const];
    }),
  );
}

/** A list of `{key, value, type}` in v2.1, an object in v2.0. */
export function authEntries(value: unknown): readonly (readonly [key: string, value: unknown])[] {
  const object = asObject(value);
  if (object !== undefined) return Object.entries(object);
  return listOf(value).flatMap((entry) => {
    const key = textOf(member(entry, 'key'));
    return key === undefined ? [] : [[key, member(entry, 'value')] as const];
  });
}

const PARAMETER_LISTS = [
  ['authRequestParams', 'login'],
  ['tokenRequestParams', 'token'],
  ['refreshRequestParams', 'refresh'],
] as const;
const SENT_IN: Readonly<Record<string, OAuthParameter['in']>> = {
  request_body: 'body',
  request_url: 'url',
  request_header: 'header',
};

/** Those that can be sent: a login is an address, and has no body or headers of ours. */
function oauthParameters(stored: unknown): OAuthParameter[] {
  const settings = new Map(authEntries(stored));
  return PARAMETER_LISTS.flatMap(([list, of]) =>
    enabledPairs(settings.get(list)).flatMap(({ key, value, entry }): OAuthParameter[] => {
      const place = textOf(member(entry, 'send_as'));
      const sentIn = place === undefined ? (of === 'login' ? 'url' : 'body') : SENT_IN[place];
      if (key === '' || sentIn === undefined || (of === 'login' && sentIn !== 'url')) return [];
      return [{ of, name: key, value, in: sentIn }];
    }),
  );
}
