import { assertNever } from '../../base/assert-never.js';
import { TroupeError } from '../../protocol/errors.js';
import type { HeaderEntry, RequestDraft } from '../request.js';
import type { CollectionAuth } from './auth.js';

/** All kinds but OAuth 2.0, whose token must be fetched. */
export type WrittenAuth = Exclude<CollectionAuth, { readonly kind: 'oauth2' }>;

/**
 * Adds authorization to a request, replacing an Authorization header.
 *
 * @param text replaces variables
 * @throws REQUEST_FAILED with `details.cause` UNKNOWN_AUTH for an unsupported kind
 */
export function authorize(request: RequestDraft, auth: WrittenAuth, text: (value: string) => string): RequestDraft {
  const { headers, url } = request;
  switch (auth.kind) {
    case 'none':
      return request;
    case 'basic':
    case 'digest': {
      const user = { kind: auth.kind, username: text(auth.username), password: text(auth.password) };
      return { ...request, headers: without(headers, 'Authorization'), auth: user };
    }
    case 'bearer':
      return withHeader(request, 'Authorization', `Bearer ${text(auth.token)}`);
    case 'apikey': {
      if (auth.in === 'header') return withHeader(request, text(auth.key), text(auth.value));
      const pair = `${encodeURIComponent(text(auth.key))}=${encodeURIComponent(text(auth.value))}`;
      const [, base = url, fragment = ''] = /^([^#]*)(#[\s\S]*)?$/.exec(url) ?? [];
      return { ...request, url: `${base}${base.includes('?') ? '&' : '?'}${pair}${fragment}` };
    }
    case 'unknown':
      throw new TroupeError('REQUEST_FAILED', unknownAuth(auth.type), { cause: 'UNKNOWN_AUTH' });
    default:
      return assertNever(auth);
  }
}

/** Replaces a header that the request has itself. */
export function withHeader(request: RequestDraft, name: string, value: string): RequestDraft {
  return { ...request, headers: [{ name, value }, ...without(request.headers, name)] };
}

/** Why an auth is not supported, and what to do. */
export function unknownAuth(type: string): string {
  const name = { ntlm: 'NTLM', awsv4: 'AWS Signature', hawk: 'Hawk', oauth1: 'OAuth 1.0', edgegrid: 'EdgeGrid' }[type];
  return (
    `${name ?? `'${type}'`} authorization is not supported; choose Basic, Digest, Bearer, an API key or OAuth 2.0, ` +
    'or write the Authorization header yourself'
  );
}

function without(headers: readonly HeaderEntry[], name: string): HeaderEntry[] {
  return headers.filter((header) => header.name.toLowerCase() !== name.toLowerCase());
}
