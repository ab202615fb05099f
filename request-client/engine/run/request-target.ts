import { percentDecoded } from '#troupe/base/percent-decoded.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { encodeForUrl } from '../url-encoding.js';

/** A URL split into what to connect to and what is in the request line. */
export interface RequestTarget {
  readonly secure: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As in the Host header. */
  readonly host: string;
  /** Path and query, one character per byte. */
  readonly path: string;
  readonly user: { readonly username: string; readonly password: string } | null;
}

const URL_FORM = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^/?#]*)([^?#]*)(\?[^#]*)?/;

/**
 * Splits a URL without the URL class, which would rewrite it. With `encode`, characters that are invalid in a request
 * line become `%XX` in UTF-8; without, the bytes are sent unchanged.
 *
 * @throws REQUEST_FAILED if it is not an http or https URL
 */
export function requestTarget(url: string, encode: boolean): RequestTarget {
  const [, scheme = 'http', authority = '', path = '', query = ''] = URL_FORM.exec(url.trim()) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const protocol = scheme.toLowerCase();
  if (!/^https?$/.test(protocol)) throw refused(url, `${scheme}:// is not supported; use http:// or https://`);
  if (host === '') throw refused(url, 'it has no host');
  if (!URL.canParse(`${protocol}://${host}`)) throw refused(url, 'its host or port is wrong');
  const parsed = new URL(`${protocol}://${host}`);
  const written = `${path.startsWith('/') ? '' : '/'}${path}${query}`;
  const [, username = '', , password = ''] = /^([^:]*)(:([\s\S]*))?$/.exec(authority.slice(0, Math.max(at, 0))) ?? [];
  const secure = protocol === 'https';
  return {
    secure,
    hostname: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port),
    host: parsed.host,
    path: encode ? encodeForUrl(written) : Buffer.from(written, 'utf8').toString('latin1'),
    user: at === -1 ? null : { username: percentDecoded(username), password: percentDecoded(password) },
  };
}

function refused(url: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `The URL ${url === '' ? '(empty)' : url} cannot be used: ${why}`, {
    cause: 'INVALID_URL',
    url,
  });
}
