import { TroupeError } from '../../protocol/errors.js';
import { encodeForUrl } from '../url-encoding.js';

/** An address as it is connected to and as it stands in the request line. */
export interface RequestTarget {
  readonly secure: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As the Host header has it. */
  readonly host: string;
  /** Path and query, one character a byte. */
  readonly path: string;
  readonly user: { readonly username: string; readonly password: string } | null;
}

const URL_FORM = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^/?#]*)([^?#]*)(\?[^#]*)?/;

/**
 * Takes a URL apart without the URL class, which rewrites what it is given. With `encode`, what cannot stand in a request
 * line becomes `%XX`, UTF-8 first; without, the bytes go as they are.
 *
 * @throws REQUEST_FAILED where it is no http or https address
 */
export function requestTarget(url: string, encode: boolean): RequestTarget {
  const [, scheme = 'http', authority = '', path = '', query = ''] = URL_FORM.exec(url.trim()) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const protocol = scheme.toLowerCase();
  if (!/^https?$/.test(protocol)) throw refused(url, `${scheme}:// is not spoken here; use http:// or https://`);
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
    user: at === -1 ? null : { username: decoded(username), password: decoded(password) },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(url: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `The address ${url === '' ? '(empty)' : url} cannot be used: ${why}`, {
    cause: 'INVALID_URL',
    url,
  });
}
