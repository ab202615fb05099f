import { markVariable } from '../source-text.js';

/** An expansion that begins with `$` or a backtick outside single quotes. `length` counts source characters. */
export interface Expansion {
  readonly text: string;
  readonly length: number;
  /** The variable, with the default of `${NAME:-default}`. */
  readonly variable?: { readonly name: string; readonly fallback?: string };
  /** The text of an expansion that is not a variable, for a warning. */
  readonly unresolved?: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*|^[0-9]/;
const BRACED = /^([A-Za-z_][A-Za-z0-9_]*|[0-9]+)(?::?[-=]([\s\S]*))?$/;

/** Reads the expansion that begins at `at`; null if the character stands for itself. */
export function readExpansion(bytes: string, at: number): Expansion | null {
  if (bytes[at] === '`') {
    const end = bytes.indexOf('`', at + 1);
    return end === -1 ? null : unresolved(bytes.slice(at, end + 1));
  }
  const next = bytes[at + 1];
  if (next === '(' || next === '{') {
    const end = closing(bytes, at + 1, next, next === '(' ? ')' : '}');
    if (end === -1) return null;
    if (next === '(') return unresolved(bytes.slice(at, end));
    const inner = bytes.slice(at + 2, end - 1);
    const [, name, fallback] = BRACED.exec(inner) ?? [];
    if (name === undefined) return unresolved(bytes.slice(at, end));
    const variable = fallback === undefined ? { name } : { name, fallback };
    return { text: markVariable(name), length: end - at, variable };
  }
  const name = NAME.exec(bytes.slice(at + 1, at + 200))?.[0];
  if (name === undefined) return null;
  return { text: markVariable(name), length: name.length + 1, variable: { name } };
}

function unresolved(text: string): Expansion {
  return { text, length: text.length, unresolved: text };
}

/** The offset after the bracket that closes the one at `at`, or -1; quoted text is skipped. */
export function closing(bytes: string, at: number, open: string, close: string): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i += 1) {
    const char = bytes[i];
    if (char === '\\') i += 1;
    else if (char === "'") {
      const end = bytes.indexOf("'", i + 1);
      if (end !== -1) i = end;
    } else if (char === open) depth += 1;
    else if (char === close) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}
