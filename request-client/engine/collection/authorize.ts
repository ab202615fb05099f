import { assertNever } from '#troupe/base/assert-never.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HeaderEntry, RequestDraft } from '../request.js';
import type { CollectionAuth } from './auth.js';

/** All kinds but OAuth 2.0, whose token must be fetched, and signatures, which are made last. */
export type WrittenAuth = Exclude<CollectionAuth, { readonly kind: 'oauth2' | 'signed' }>;

/**
 * Adds authorization to a request, replacing an Authorization header.
 *
 * @param text replaces variables
 * @throws REQUEST_FAILED with `details.cause` UNKNOWN_AUTH for an unsupported kind
 */
export function authorize(request: RequestDraft, auth: WrittenAuth, text: (value: string) => string): RequestDraft {
  const { headers } = request;
  switch (auth.kind) {
    case 'none':
      return request;
    case 'basic':
    case 'digest':
    case 'ntlm': {
      const { kind, domain = '', workstation = '' } = auth;
      const user = {
        kind,
        username: text(auth.username),
        password: text(auth.password),
        ...(kind === 'ntlm' ? { domain: text(domain), workstation: text(workstation) } : {}),
      };
      return { ...request, headers: without(headers, 'Authorization'), auth: user };
    }
    case 'bearer': {
      const token = text(auth.token);
      return token === '' ? request : withHeader(request, 'Authorization', `Bearer ${token}`);
    }
    case 'apikey': {
      if (auth.in === 'header') return withHeader(request, text(auth.key), text(auth.value));
      return withQueryPair(request, text(auth.key), text(auth.value));
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

/** Appends to the query, in place of a parameter of that name. */
export function withQueryPair(request: RequestDraft, name: string, value: string): RequestDraft {
  const [, base = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#[\s\S]*)?$/.exec(request.url) ?? [];
  const key = encodeURIComponent(name);
  const others = (query ?? '')
    .split('&')
    .filter((pair) => pair !== '' && ![name, key].includes(pair.split('=')[0] ?? ''));
  return { ...request, url: `${base}?${[...others, `${key}=${encodeURIComponent(value)}`].join('&')}${fragment}` };
}

/** Why an auth is not supported, and what to do. */
export function unknownAuth(type: string): string {
  const name = { edgegrid: 'EdgeGrid', asap: 'ASAP' }[type];
  return (
    `${name ?? `'${type}'`} authorization is not supported; choose another kind, ` +
    'or write the Authorization header yourself'
  );
}

function without(headers: readonly HeaderEntry[], name: string): HeaderEntry[] {
  return headers.filter((header) => header.name.toLowerCase() !== name.toLowerCase());
}
