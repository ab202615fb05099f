/** Languages whose texts are written differently. */
export type LiteralKind =
  | 'javascript'
  | 'python'
  | 'go'
  | 'java'
  | 'kotlin'
  | 'csharp'
  | 'php'
  | 'ruby'
  | 'rust'
  | 'swift'
  | 'c';

/** Languages in which a dollar sign in double quotes inserts a variable. */
const DOLLAR: ReadonlySet<LiteralKind> = new Set(['kotlin', 'php']);
/** Languages in which single quotes know only two escapes. */
const PLAIN_SINGLE: ReadonlySet<LiteralKind> = new Set(['php', 'ruby']);

/** A text between quotes, as a language reads it back. */
export function literal(text: string, quotes: string, kind: LiteralKind): string {
  if (quotes === "'" && PLAIN_SINGLE.has(kind)) return `'${text.replace(/[\\']/g, '\\$&')}'`;
  const escaped = text.replace(/[\\"'\n\r\t$#\p{Cc}\u2028\u2029]/gu, (character) => {
    switch (character) {
      case '\n':
        return '\\n';
      case '\r':
        return '\\r';
      case '\t':
        return '\\t';
      case '\\':
        return '\\\\';
      case '"':
      case "'":
        return character === quotes ? `\\${character}` : character;
      case '$':
        return DOLLAR.has(kind) ? '\\$' : character;
      case '#':
        return kind === 'ruby' ? '\\#' : character;
      default:
        return control(character.codePointAt(0) ?? 0, kind);
    }
  });
  return `${quotes}${escaped}${quotes}`;
}

function control(code: number, kind: LiteralKind): string {
  const hex = code.toString(16);
  if (kind === 'rust' || kind === 'swift' || kind === 'php') return `\\u{${hex}}`;
  if (kind !== 'c') return `\\u${hex.padStart(4, '0')}`;
  // Three octal digits end by themselves; \x would take the digits that follow.
  return [...Buffer.from(String.fromCodePoint(code))].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
