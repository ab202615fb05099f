import type { Answer } from './route.js';

/** What a session's pages had a part in: it is shown, in a frame of ours at most, and can do nothing. */
export const SEALED = [
  'Content-Security-Policy',
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'",
] as const;

/** The dashboard loads nothing but itself, and is framed by nobody. */
const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Those of a file of the dashboard. */
export function pageHeaders(page: Answer & { readonly kind: 'page' }): ReadonlyArray<readonly [string, string]> {
  return [
    ['Content-Type', page.contentType],
    ['Content-Security-Policy', DASHBOARD_POLICY],
    ['Referrer-Policy', 'no-referrer'],
    ['Vary', 'Accept-Encoding'],
    ...(page.gzip ? [['Content-Encoding', 'gzip'] as const] : []),
    ...(page.immutable ? [['Cache-Control', 'public, max-age=31536000, immutable'] as const] : []),
  ];
}

/** RFC 6266: a plain name for old readers, the exact one in RFC 8187's encoding. */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\w.-]/g, '_');
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return plain === fileName
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
