import { readFileSync } from 'node:fs';

/** The version of this package, from its package.json. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version: unknown = Reflect.get(Object(manifest), 'version');
  if (typeof version !== 'string') throw new Error('package.json has no version');
  return version;
}
