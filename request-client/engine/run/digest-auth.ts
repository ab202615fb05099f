import { createHash } from 'node:crypto';
import type { UserAuth } from '../request.js';

/** A server's challenge: RFC 7616, or RFC 2069 without qop. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  /** As the server wrote it; null if it is absent. */
  readonly algorithm: string | null;
  readonly hash: 'md5' | 'sha256' | 'sha512-256';
  readonly session: boolean;
  readonly qop: 'auth' | null;
  readonly userhash: boolean;
  /** Only the nonce was too old. */
  readonly stale: boolean;
}

/** One answer to a challenge. */
export interface DigestTurn {
  readonly method: string;
  /** As in the request line. */
  readonly uri: string;
  /** How often the nonce was used, this time included. */
  readonly count: number;
  readonly cnonce: string;
}

/** The supported hashes, the strongest first. */
const HASHES: readonly (readonly [name: string, hash: DigestChallenge['hash']])[] = [
  ['SHA-512-256', 'sha512-256'],
  ['SHA-256', 'sha256'],
  ['MD5', 'md5'],
];

/** The best supported challenge in WWW-Authenticate headers; null if there is none. */
export function digestChallenge(headers: readonly string[]): DigestChallenge | null {
  const challenges = headers.flatMap(challengesIn).flatMap(({ scheme, params }) => {
    return scheme === 'digest' ? readChallenge(params) : [];
  });
  const rank = ({ hash }: DigestChallenge): number => HASHES.findIndex(([, own]) => own === hash);
  return challenges.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** The Authorization header that answers a challenge. */
export function digestHeader(challenge: DigestChallenge, user: UserAuth, turn: DigestTurn): string {
  const { realm, nonce, opaque, algorithm, qop, session, userhash } = challenge;
  const { method, uri, cnonce } = turn;
  const hash = (text: string): string => createHash(challenge.hash).update(text, 'utf8').digest('hex');
  const count = turn.count.toString(16).padStart(8, '0');
  const secret = hash(`${user.username}:${realm}:${user.password}`);
  const ha1 = session ? hash(`${secret}:${nonce}:${cnonce}`) : secret;
  // The request line is sent with one byte per character.
  const ha2 = createHash(challenge.hash).update(`${method}:${uri}`, 'latin1').digest('hex');
  const response =
    qop === null ? hash(`${ha1}:${nonce}:${ha2}`) : hash(`${ha1}:${nonce}:${count}:${cnonce}:${qop}:${ha2}`);
  const username = userhash ? hash(`${user.username}:${realm}`) : user.username;
  return `Digest ${[
    `username="${escaped(username)}"`,
    `realm="${escaped(realm)}"`,
    `nonce="${escaped(nonce)}"`,
    `uri="${uri}"`,
    ...(qop === null && !session ? [] : [`cnonce="${cnonce}"`]),
    ...(qop === null ? [] : [`nc=${count}`, `qop=${qop}`]),
    `response="${response}"`,
    ...(opaque === null ? [] : [`opaque="${escaped(opaque)}"`]),
    ...(algorithm === null ? [] : [`algorithm=${algorithm}`]),
    ...(userhash ? ['userhash=true'] : []),
  ].join(', ')}`;
}

type Params = ReadonlyMap<string, string>;

function readChallenge(params: Params): DigestChallenge[] {
  const { realm, nonce, opaque, algorithm } = Object.fromEntries(params);
  const [, name = '', session] = /^(.*?)(-sess)?$/is.exec(algorithm ?? 'MD5') ?? [];
  const known = HASHES.find(([own]) => own === name.toUpperCase());
  const offered = params
    .get('qop')
    ?.split(',')
    .map((one) => one.trim().toLowerCase());
  // auth-int also protects the body; no server requires it alone.
  if (realm === undefined || nonce === undefined || known === undefined || offered?.includes('auth') === false)
    return [];
  return [
    {
      realm,
      nonce,
      opaque: opaque ?? null,
      algorithm: algorithm ?? null,
      hash: known[1],
      session: session !== undefined,
      qop: offered === undefined ? null : 'auth',
      userhash: params.get('userhash')?.toLowerCase() === 'true',
      stale: params.get('stale')?.toLowerCase() === 'true',
    },
  ];
}

/** A header contains one or several challenges: a word without `=` begins the next one. */
function challengesIn(header: string): { readonly scheme: string; readonly params: Params }[] {
  const found: { scheme: string; params: Map<string, string> }[] = [];
  for (const [, word = '', equals, quoted, bare] of header.matchAll(
    /([^\s,="]+)(?:(\s*=\s*)(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gs,
  )) {
    if (equals === undefined) found.push({ scheme: word.toLowerCase(), params: new Map() });
    else found.at(-1)?.params.set(word.toLowerCase(), quoted?.replace(/\\(.)/gs, '$1') ?? bare ?? '');
  }
  return found;
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, '\\$&');
}
