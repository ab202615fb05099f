import { toBytes } from '../source-text.js';

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

/**
 * The content between `$'` and `'` in bash, as bytes. A NUL ends it, as in bash. Bash writes the two halves of a
 * surrogate pair separately; browsers mean one character, so they are combined here.
 */
export function unescapeAnsiC(inner: string): string {
  const joined = inner.replace(
    /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/g,
    (_all, high: string, low: string) => toBytes(String.fromCharCode(parseInt(high, 16), parseInt(low, 16))),
  );
  const bytes = joined.replace(
    ESCAPE,
    (all: string, hex?: string, u4?: string, u8?: string, octal?: string, control?: string, other?: string) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      const point = u4 ?? u8;
      if (point !== undefined) return codePointBytes(parseInt(point, 16));
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & 0xff);
      if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
      return SIMPLE[other ?? ''] ?? all;
    },
  );
  const end = bytes.indexOf('\0');
  return end === -1 ? bytes : bytes.slice(0, end);
}

function codePointBytes(point: number): string {
  return point > 0x10_ffff ? '' : toBytes(String.fromCodePoint(point));
}
