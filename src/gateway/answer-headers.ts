import type { Answer } from './route.js';

/**
 * For content that a session's pages influenced: it may be displayed, framed by this service only, and runs and loads
 * nothing.
 */
export const SEALED = [
  'Content-Security-Policy',
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'",
] as const;

/** The dashboard loads only its own files and cannot be framed. */
const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of a dashboard file. */
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

/** RFC 6266: an ASCII name for old clients, and the exact name in the encoding of RFC 8187. */
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
