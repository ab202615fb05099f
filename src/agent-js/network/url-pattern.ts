import { TroupeError } from '../../protocol/errors.js';

const MAX_GLOB = 2_000;
const MAX_ALTERNATIVES = 64;

/** `star`: no slash; `deep`: anything; `folders`: anything that ends with a slash; `maybe`: the same, or nothing. */
type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'star' | 'deep' | 'folders' | 'maybe' };

/**
 * An address as Playwright's calls take it, with globs as objects that pass for expressions: `*`, `**`, `{a,b}`, a
 * backslash before a character that means itself. Their time is the address's length times the glob's, which an
 * expression made of them would not keep to. An address without any of these stays a text.
 *
 * @throws SCRIPT_ERROR for a glob that is too long, or has more than 64 alternatives
 */
export function urlPattern(given: unknown): unknown {
  if (typeof given !== 'string' || !/[*{\\]/.test(given)) return given;
  if (given.length > MAX_GLOB) throw new TroupeError('SCRIPT_ERROR', `A glob has at most ${MAX_GLOB} characters`);
  const alternatives = expand(given).map(tokensOf);
  const exec = (text: string): readonly string[] | null =>
    alternatives.some((tokens) => matches(tokens, String(text))) ? [String(text)] : null;
  return Object.defineProperty(/(?:)/, 'exec', { value: exec });
}

/** The alternatives of its groups, which do not nest. */
function expand(glob: string): readonly string[] {
  const open = glob.search(/(?<!\\)\{/);
  const close = open === -1 ? -1 : glob.indexOf('}', open);
  if (close === -1) return [glob];
  const choices = glob.slice(open + 1, close).split(',');
  const rests = expand(glob.slice(close + 1));
  const all = choices.flatMap((choice) => rests.map((rest) => glob.slice(0, open) + choice + rest));
  if (all.length > MAX_ALTERNATIVES) {
    throw new TroupeError('SCRIPT_ERROR', `A glob has at most ${MAX_ALTERNATIVES} alternatives`);
  }
  return all;
}

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? '';
    if (char === '\\' && at + 1 < glob.length) {
      at += 1;
      tokens.push({ kind: 'char', char: glob[at] ?? '' });
    } else if (char !== '*') {
      tokens.push({ kind: 'char', char });
    } else {
      const before = glob[at - 1];
      let stars = 1;
      for (; glob[at + 1] === '*'; at += 1) stars += 1;
      if (stars === 1) tokens.push({ kind: 'star' });
      else if (glob[at + 1] !== '/') tokens.push({ kind: 'deep' });
      else {
        at += 1;
        tokens.push({ kind: before === '/' ? 'maybe' : 'folders' });
      }
    }
  }
  return tokens;
}

/** Follows all ways through the tokens at once. */
function matches(tokens: readonly Token[], text: string): boolean {
  let reached = new Set(withSkips(tokens, 0));
  for (const char of text) {
    const next = new Set<number>();
    for (const at of reached) {
      const token = tokens[at];
      if (token === undefined) continue;
      if (token.kind === 'char') {
        if (token.char === char) for (const one of withSkips(tokens, at + 1)) next.add(one);
        continue;
      }
      if (token.kind !== 'star' || char !== '/') next.add(at);
      const ends = (token.kind === 'star' && char !== '/') || token.kind === 'deep' || char === '/';
      if (ends && (token.kind !== 'star' || char !== '/')) for (const one of withSkips(tokens, at + 1)) next.add(one);
    }
    reached = next;
    if (reached.size === 0) return false;
  }
  return reached.has(tokens.length);
}

/** A place among the tokens, and those behind what may stand for nothing. */
function withSkips(tokens: readonly Token[], from: number): number[] {
  const places = [from];
  for (let at = from; ; at += 1) {
    const kind = tokens[at]?.kind;
    if (kind !== 'star' && kind !== 'deep' && kind !== 'maybe') return places;
    places.push(at + 1);
  }
}
