import { asObject, listOf, member, textOf } from '../collection/json-access.js';

/** A token as the endpoint returned it. */
export interface GrantedToken {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Seconds from now; 0 if it has expired already, null if unknown. */
  readonly expiresIn: number | null;
}

/** The meaning of a token endpoint's answer. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly token: GrantedToken }
  | { readonly kind: 'refused'; readonly error: string; readonly description: string }
  /** Neither a token nor an OAuth error. */
  | { readonly kind: 'strange' };

/**
 * Reads what providers actually answer: JSON under any content type, or a form; numbers as strings; nulls; an error
 * with status 200; a token without a type. RFC 6749, sections 5.1 and 5.2, specify the correct answers.
 */
export function readTokenAnswer(status: number, text: string): TokenAnswer {
  const value = parsed(text);
  const inner = asObject(member(value, 'authed_user')) ?? value;
  const error = member(value, 'error');
  if (error !== undefined && error !== null && error !== false && error !== '') {
    const code = textOf(error) ?? textOf(member(error, 'code')) ?? textOf(member(error, 'type')) ?? 'error';
    const description =
      textOf(member(value, 'error_description')) ??
      textOf(member(error, 'message')) ??
      textOf(member(value, 'message')) ??
      '';
    return { kind: 'refused', error: code, description };
  }
  const accessToken = textOf(member(value, 'access_token')) ?? textOf(member(inner, 'access_token'));
  if (status < 200 || status > 299 || accessToken === undefined || accessToken === '') return { kind: 'strange' };
  const type = (textOf(member(value, 'token_type')) ?? 'bearer').toLowerCase();
  if (type === 'mac' || type === 'dpop') {
    return {
      kind: 'refused',
      error: 'token_type',
      description: `the token has the type ${type}, and only Bearer is supported`,
    };
  }
  const refreshToken = textOf(member(inner, 'refresh_token')) ?? textOf(member(value, 'refresh_token'));
  const seconds = Number.parseFloat(textOf(member(value, 'expires_in')) ?? textOf(member(value, 'expires')) ?? '');
  return {
    kind: 'token',
    token: {
      accessToken,
      refreshToken: refreshToken === undefined || refreshToken === '' ? null : refreshToken,
      expiresIn: Number.isFinite(seconds) ? Math.max(0, seconds) : null,
    },
  };
}

function parsed(text: string): unknown {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  try {
    const value: unknown = JSON.parse(trimmed);
    // Some providers wrap the answer in an array of one.
    return Array.isArray(value) ? listOf(value)[0] : value;
  } catch {
    return /^[\w.%-]+=/.test(trimmed) ? Object.fromEntries(new URLSearchParams(trimmed)) : undefined;
  }
}

/** The `exp` of a JWT in milliseconds since 1970, unverified: it only decides when the token is no longer used. */
export function jwtExpiry(token: string): number | null {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return null;
  try {
    const exp: unknown = member(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), 'exp');
    return typeof exp === 'number' && exp > 0 ? exp * 1000 : null;
  } catch {
    return null;
  }
}
