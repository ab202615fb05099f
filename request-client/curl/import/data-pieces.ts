import type { RequestBody } from '../../engine/request.js';
import type { DataPiece } from './operation.js';
import type { Remark, Stdin } from './shell-command.js';
import { hasVariable, mapAroundVariables, toText, variablesInBraces } from './source-text.js';

/** The data of an option like `-d`. `@-` reads the standard input if it is known. */
export function readData(option: string, value: string, at: number, stdin: Stdin): DataPiece {
  const json = option === 'json';
  const text = (bytes: string): DataPiece => ({ kind: 'text', text: bytes, json, at });
  if (option === 'data-raw') return text(value);
  if (option === 'data-urlencode') return readUrlEncoded(option, value, at, stdin);
  if (option === 'url-query')
    return value.startsWith('+') ? text(value.slice(1)) : readUrlEncoded(option, value, at, stdin);
  if (!value.startsWith('@')) return text(value);
  const withoutNewlines = option === 'data' || option === 'data-ascii';
  const source = inputOf(value.slice(1), stdin);
  if (source.kind === 'text') return text(withoutNewlines ? source.bytes.replace(/[\r\n]/g, '') : source.bytes);
  return { kind: 'file', option: `--${option}`, path: toText(source.path), withoutNewlines, json, at };
}

/** `content`, `=content`, `name=content`, `@file`, `name@file`. */
function readUrlEncoded(option: string, value: string, at: number, stdin: Stdin): DataPiece {
  const [, name = '', sign, content = ''] = /^([^=@]*)([=@])([\s\S]*)$/.exec(value) ?? [];
  const joined = (bytes: string): DataPiece => {
    const encoded = mapAroundVariables(bytes, formEncode);
    return { kind: 'text', text: name === '' ? encoded : `${name}=${encoded}`, json: false, at };
  };
  if (sign === undefined) return joined(value);
  if (sign === '=') return joined(content);
  const source = inputOf(content, stdin);
  if (source.kind === 'text') return joined(source.bytes);
  return {
    kind: 'file',
    option: `--${option}`,
    path: toText(source.path),
    withoutNewlines: false,
    json: false,
    at,
  };
}

type Source = { readonly kind: 'text'; readonly bytes: string } | { readonly kind: 'file'; readonly path: string };

function inputOf(path: string, stdin: Stdin): Source {
  return path === '-' && stdin.kind !== 'none' ? stdin : { kind: 'file', path };
}

/** curl's escaping: everything but letters, digits and `-._~`; a space becomes `+`. */
export function formEncode(bytes: string): string {
  return bytes.replace(/[^A-Za-z0-9\-._~]/g, (char) =>
    char === ' ' ? '+' : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** Joins text pieces as curl does: with `&`, except for `--json`. Null if there are none. */
export function joinText(pieces: readonly DataPiece[]): string | null {
  let joined: string | null = null;
  for (const piece of pieces) {
    if (piece.kind === 'text') joined = joined === null ? piece.text : `${joined}${piece.json ? '' : '&'}${piece.text}`;
  }
  return joined;
}

/** The body that the pieces make. Of a file with other data only the other data is kept, with a warning. */
export function bodyOfData(pieces: readonly DataPiece[], remarks: Remark[]): RequestBody {
  const files = pieces.flatMap((piece) => (piece.kind === 'file' ? [piece] : []));
  const [only] = files;
  if (only !== undefined && pieces.length === 1 && only.option !== '--data-urlencode') {
    const about = `${only.option} @${only.path}`;
    const message = `${about}: the file is not read now; the request refers to it and reads it when it runs`;
    remarks.push({ level: 'warning', about, message, at: only.at });
    return { kind: 'file', path: only.path, withoutNewlines: only.withoutNewlines };
  }
  for (const { option, path, at } of files) {
    const about = `${option} @${path}`;
    const message = `${about} was left out: a file cannot be joined with other data or encoded here`;
    remarks.push({ level: 'warning', about, message, at });
  }
  return bodyOfBytes(joinText(pieces) ?? '');
}

/** Text if it is UTF-8, else base64; variables need text. */
function bodyOfBytes(bytes: string): RequestBody {
  if (bytes === '') return { kind: 'text', text: '' };
  const text = variablesInBraces(bytes);
  const isText = hasVariable(bytes) || Buffer.from(text, 'utf8').equals(Buffer.from(bytes, 'latin1'));
  return isText ? { kind: 'text', text } : { kind: 'bytes', base64: Buffer.from(bytes, 'latin1').toString('base64') };
}
