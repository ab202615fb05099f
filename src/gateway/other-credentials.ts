import type { AccessHeaders } from './host-check.js';

/** Paths that clients of other products use, whose libraries send no Bearer token. */
const OTHERS =
  /^\/(?:wd\/hub\/)?(?:session|status)(?:\/|$)|^\/json(?:\/|$)|^\/(?:cdp|playwright|pdf|screenshot|content|function)$/;

/**
 * For the paths of WebDriver, browserless, and Chrome's `/json`, a token may also be the password of Basic credentials, as in
 * `http://ci:TOKEN@host/wd/hub`, or the parameter `token` of the URL. A Bearer token takes precedence.
 */
export function withOtherCredentials<Head extends AccessHeaders>(head: Head, path: string, query: string): Head {
  if (!OTHERS.test(path) || /^bearer /i.test(head.authorization)) return head;
  const token = basicToken(head.authorization) ?? new URLSearchParams(query).get('token');
  return token === null || !/^\S+$/.test(token) ? head : { ...head, authorization: `Bearer ${token}` };
}

/** The password, or the user name if there is no password. */
function basicToken(authorization: string): string | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const password = colon < 0 ? '' : text.slice(colon + 1);
  return password || text.slice(0, colon < 0 ? undefined : colon) || null;
}
