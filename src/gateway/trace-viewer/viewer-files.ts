import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { contentOf, openRegularFile } from '../../files/regular-file.js';

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.webmanifest': 'application/manifest+json',
};
/** The viewer's files lie in one folder and `assets/`. */
const NAME = /^(?:assets\/)?[\w-][\w.-]{0,99}$/;

/** A file of the viewer; the caller must read or destroy the stream. */
export interface ViewerFile {
  readonly contentType: string;
  readonly bytes: number;
  readonly stream: Readable;
}

let folder: string | null = null;
let policy: Promise<string> | null = null;

/** A file of the viewer that comes with playwright-core, by its path; null if there is none. */
export async function viewerFile(name: string): Promise<ViewerFile | null> {
  const contentType = TYPES[extname(name)];
  if (contentType === undefined || !NAME.test(name)) return null;
  const file = await openRegularFile(join(viewerFolder(), name));
  return file === null ? null : { contentType, bytes: file.stats.size, stream: contentOf(file) };
}

/** Nobody else's page may open, embed or read what this origin has. */
export function traceViewerHeaders(): readonly (readonly [string, string])[] {
  return [
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Referrer-Policy', 'no-referrer'],
  ];
}

/**
 * The viewer runs its own scripts alone, and reaches this origin alone: a trace of another address, which a link to the
 * viewer could name, is not loaded.
 */
export function traceViewerPolicy(): Promise<string> {
  policy ??= makePolicy();
  return policy;
}

async function makePolicy(): Promise<string> {
  const html = await readFile(join(viewerFolder(), 'index.html'), 'utf8');
  const inline = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    // What the viewer shows where there is no snapshot is a data: address.
    "frame-src 'self' data:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** playwright-core is a dependency of playwright, and may lie in a folder of its own. */
function viewerFolder(): string {
  if (folder !== null) return folder;
  const playwright = createRequire(import.meta.url).resolve('playwright/package.json');
  folder = join(dirname(createRequire(playwright).resolve('playwright-core/package.json')), 'lib/vite/traceViewer');
  return folder;
}
