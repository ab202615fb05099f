import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asAbsent } from '../base/system-fault.js';

/** How a page shows a screenshot: inlined, or as a link to the file beside it. */
export type ImageSource = { readonly inline: string } | { readonly link: string };

/** The limit of all inlined screenshots together, before base64 adds a third. */
const MAX_INLINE_BYTES = 24 * 1024 * 1024;
const TYPES: { readonly [extension: string]: string } = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};

/**
 * The screenshots of a session folder, for a self-contained page. The first ones in `wanted` are inlined, up to 24 MiB
 * of
 * files together; the others become links that work in the unpacked folder.
 *
 * @returns a function that returns how to show a screenshot; null if there is no such file. It reads files
 * synchronously.
 */
export function screenshotImages(dir: string, wanted: Iterable<string>): (name: string) => ImageSource | null {
  const inlined = new Set<string>();
  let bytes = 0;
  for (const name of wanted) {
    if (inlined.has(name) || typeOf(name) === null) continue;
    const size = sizeOf(join(dir, 'screenshots', name));
    if (size === null || bytes + size > MAX_INLINE_BYTES) continue;
    bytes += size;
    inlined.add(name);
  }
  return (name) => {
    const type = typeOf(name);
    if (type === null) return null;
    const path = join(dir, 'screenshots', name);
    if (!inlined.has(name)) return sizeOf(path) === null ? null : { link: `screenshots/${encodeURIComponent(name)}` };
    const content = read(path);
    return content === null ? null : { inline: `data:${type};base64,${content.toString('base64')}` };
  };
}

/** Null for a name that is not that of a picture directly in the folder. */
function typeOf(name: string): string | null {
  if (!/^[^/\\\0]{1,200}$/.test(name) || name.startsWith('.')) return null;
  return TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? null;
}

function sizeOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats.size : null;
}

function read(path: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor) : null;
  } catch (error) {
    // Deleted while the report was being created: the page is still useful without this picture.
    return asAbsent(error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
