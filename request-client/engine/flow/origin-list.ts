import { join } from 'node:path';
import { readFile } from '#troupe/files/thread-files.js';

/** `requests/origins.json`: further origins to which credentials of collections may be sent. */
export interface OriginList {
  has(origin: string): boolean;
  /** What is wrong with the file; null if it is valid or does not exist. */
  readonly fault: string | null;
}

export const ORIGINS_FILE = 'origins.json';

/**
 * Entries are `https://shop.example`, `http://127.0.0.1:4500`, or `http://127.0.0.1:*` for every port. Never rejects.
 */
export async function readOrigins(requestsDir: string): Promise<OriginList> {
  let text: string;
  try {
    text = (await readFile(join(requestsDir, ORIGINS_FILE))).toString('utf8');
  } catch (error) {
    const missing = error instanceof Error && Reflect.get(error, 'code') === 'ENOENT';
    return { has: () => false, fault: missing ? null : `it cannot be read: ${String(error)}` };
  }
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return wrong('it is not an array');
    const origins = new Set<string>();
    for (const entry of list) {
      const origin = originIn(entry);
      if (origin === null) return wrong(`${JSON.stringify(entry)} is not an origin such as "https://shop.example"`);
      origins.add(origin);
    }
    const anyPort = (origin: string): string => `${origin.replace(/:\d+$/, '')}:*`;
    return { has: (origin) => origins.has(origin) || origins.has(anyPort(origin)), fault: null };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(fault: string): OriginList {
  return { has: () => false, fault };
}

function originIn(entry: unknown): string | null {
  if (typeof entry !== 'string') return null;
  const [, origin = '', any = ''] = /^(https?:\/\/[^/?#@]+?)(:\*)?\/?$/i.exec(entry) ?? [];
  if (!URL.canParse(origin)) return null;
  const read = new URL(origin).origin;
  return any === '' ? read : `${read.replace(/:\d+$/, '')}${any}`;
}
