/** A pattern with more URLs is not expanded: a pasted text should not create a thousand requests. */
const MAX_EXPANDED = 100;

export type Globbed =
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  /** curl would reject the pattern, or it has too many URLs; `url` is the text taken literally. */
  | { readonly kind: 'literal'; readonly url: string; readonly why: string };

/** curl's `{a,b}`, `[1-3]`, `[a-z:2]`, and `\{` for a literal bracket. `[]` and an IPv6 address are literal too. */
export function expandGlob(pattern: string): Globbed {
  const parts: string[][] = [];
  let literal = '';
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i] ?? '';
    if (char === '\\' && /[{}[\]]/.test(pattern[i + 1] ?? '')) {
      i += 1;
      literal += pattern[i] ?? '';
      continue;
    }
    if (char === '[' && /^\[(?:\]|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(?:%[^\]]*)?\])/.test(pattern.slice(i, i + 60))) {
      const end = pattern.indexOf(']', i);
      literal += pattern.slice(i, end + 1);
      i = end;
      continue;
    }
    if (!/[{}[\]]/.test(char)) {
      literal += char;
      continue;
    }
    const end = char === '{' ? pattern.indexOf('}', i) : char === '[' ? pattern.indexOf(']', i) : -1;
    const inner = end === -1 ? '' : pattern.slice(i + 1, end);
    const choices = char === '{' ? choicesOf(inner) : rangeOf(inner);
    if (choices === null)
      return { kind: 'literal', url: unescaped(pattern), why: `curl cannot read ${char} as a pattern` };
    parts.push([literal], choices);
    literal = '';
    i = end;
  }
  parts.push([literal]);
  const count = parts.reduce((product, choices) => product * choices.length, 1);
  if (count > MAX_EXPANDED)
    return { kind: 'literal', url: pattern, why: `it expands to ${count} URLs, more than ${MAX_EXPANDED}` };
  return { kind: 'urls', urls: parts.reduce((made, choices) => made.flatMap((m) => choices.map((c) => m + c)), ['']) };
}

function unescaped(pattern: string): string {
  return pattern.replace(/\\([{}[\]])/g, '$1');
}

function choicesOf(inner: string): string[] | null {
  return inner === '' || inner.includes('{') ? null : inner.split(',').map(unescaped);
}

const RANGE = /^(?:(\d+)-(\d+)|([A-Za-z])-([A-Za-z]))(?::(\d+))?$/;

function rangeOf(inner: string): string[] | null {
  const [, from, to, first, last, every] = RANGE.exec(inner) ?? [];
  const step = Number(every ?? 1);
  if (step < 1) return null;
  if (from !== undefined && to !== undefined) {
    if (Number(from) > Number(to)) return null;
    const width = from.startsWith('0') ? from.length : 0;
    return series(Number(from), Number(to), step).map((number) => String(number).padStart(width, '0'));
  }
  if (first === undefined || last === undefined || first > last) return null;
  return series(first.charCodeAt(0), last.charCodeAt(0), step).map((code) => String.fromCharCode(code));
}

function series(from: number, to: number, step: number): number[] {
  // One more than allowed is enough to be rejected.
  const length = Math.min(Math.floor((to - from) / step) + 1, MAX_EXPANDED + 1);
  return Array.from({ length }, (_, index) => from + index * step);
}
