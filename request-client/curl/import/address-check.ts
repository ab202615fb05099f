import { toText } from './source-text.js';
import type { UrlParts } from './url-parts.js';

/** Characters that curl allows in no host name. */
const NOT_IN_HOST = /[\s!"$&'()*+,;<=>[\\\]^`{}]/;
/** What word processors and web pages put in the place of ASCII characters; also characters that nobody sees. */
const TYPOGRAPHIC = /[\u00a0\u00ab\u00bb\u2000-\u203f\u2212\ufeff]/u;
const IP_6 = /^\[[0-9A-Fa-f:.]+(?:%[^\]]*)?\]$/;
const VARIABLE = /\0[^\0]*\0|\{\{[^{}]*\}\}/g;

/** Why no request can go to an address whose scheme is HTTP; null if one can. */
export function hostFault({ host }: UrlParts): string | null {
  const given = toText(host.replace(VARIABLE, '\0'));
  if (given === '') return 'it names no host';
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::([\s\S]*))?$/.exec(given) ?? [];
  if (!/^\d*\0?\d*$/.test(port) || Number(port.replace('\0', '')) > 65_535)
    return `${given.replaceAll('\0', '…')} has no valid port`;
  if (IP_6.test(name)) return null;
  const wrong = NOT_IN_HOST.exec(name)?.[0] ?? TYPOGRAPHIC.exec(name)?.[0];
  if (wrong !== undefined) return `no host name contains ${named(wrong)}`;
  return /[\p{L}\p{N}\p{S}\0]/u.test(name.replaceAll('|', '')) ? null : 'a host name needs a letter or a digit';
}

function named(char: string): string {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return /[\s\u2000-\u200f\u2028-\u202f\u2060\ufeff]/u.test(char) ? code : char;
}
