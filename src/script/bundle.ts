import { readFileSync } from 'node:fs';

/**
 * The text of the bundle that the build made from `<name>.entry.ts` beside the calling module: an expression whose
 * value is the entry's `install` function.
 *
 * @param base `import.meta.url` of the caller
 * @param path relative to the caller, without `.bundle.js`
 */
export function readBundle(base: string, path: string): string {
  return readFileSync(new URL(`${path}.bundle.js`, base), 'utf8');
}
