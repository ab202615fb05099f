import { TroupeError } from '../../protocol/errors.js';

const MAX_GLOB = 200;
const MAX_ALTERNATIVES = 64;

/** `skip` leads past a `**` and its slash, which may stand for no folder at all. */
interface Token {
  readonly kind: 'char' | 'any' | 'star' | 'deep';
  readonly char: string;
  readonly skip: boolean;
}

/**
 * A test of paths with forward slashes: `*` and `?` within a name, `**` over folders, `{a,b}`. A glob without a slash
 * looks at the name alone, in every folder: `*.js`. Its time is the path's length times the glob's, whatever they are;
 * an expression of the language could be made to run for ever.
 *
 * @throws SCRIPT_ERROR for one that is too long, has open braces, or more than 64 alternatives.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.length > MAX_GLOB) throw new TroupeError('SCRIPT_ERROR', `A glob has at most ${MAX_GLOB} characters`);
  const anywhere = glob.includes('/') ? glob.replace(/^\.?\//, '') : `**/${glob}`;
  const alternatives = expand(anywhere).map(tokens);
  return (path) => alternatives.some((alternative) => matches(alternative, path));
}

function expand(glob: string): string[] {
  let texts = [glob];
  while (true) {
    const next: string[] = [];
    for (const text of texts) {
      // The innermost braces first.
      const close = text.indexOf('}');
      const open = close === -1 ? text.indexOf('{') : text.lastIndexOf('{', close);
      if (close === -1 && open === -1) continue;
      if (close === -1 || open === -1) {
        throw new TroupeError('SCRIPT_ERROR', `The glob ${JSON.stringify(glob)} has a brace without its partner`);
      }
      for (const choice of text.slice(open + 1, close).split(',')) {
        next.push(text.slice(0, open) + choice + text.slice(close + 1));
      }
    }
    if (next.length === 0) return texts;
    if (next.length > MAX_ALTERNATIVES) {
      throw new TroupeError('SCRIPT_ERROR', `A glob has at most ${MAX_ALTERNATIVES} alternatives`);
    }
    texts = next;
  }
}

function tokens(glob: string): Token[] {
  const found: Token[] = [];
  for (let i = 0; i < glob.length; i += 1) {
    const char = glob.charAt(i);
    if (char === '*' && glob.charAt(i + 1) === '*') {
      while (glob.charAt(i + 1) === '*') i += 1;
      found.push({ kind: 'deep', char, skip: glob.charAt(i + 1) === '/' });
    } else if (char === '*') found.push({ kind: 'star', char, skip: false });
    else found.push({ kind: char === '?' ? 'any' : 'char', char, skip: false });
  }
  return found;
}

/** Follows all ways through the tokens at once: `states` has the tokens that may come next. */
function matches(glob: readonly Token[], path: string): boolean {
  let states = new Set<number>();
  enter(glob, 0, states);
  for (let i = 0; i < path.length; i += 1) {
    const char = path.charAt(i);
    const next = new Set<number>();
    for (const state of states) {
      const token = glob[state];
      if (token === undefined) continue;
      if (token.kind === 'deep' || (token.kind === 'star' && char !== '/')) stay(glob, state, next);
      else if (token.kind === 'any' ? char !== '/' : token.kind === 'char' && token.char === char) {
        enter(glob, state + 1, next);
      }
    }
    states = next;
  }
  return states.has(glob.length);
}

/** Adds a state with all that can be reached from it without a character. */
function enter(glob: readonly Token[], state: number, states: Set<number>): void {
  const token = glob[state];
  if (token?.kind === 'star' || token?.kind === 'deep') stay(glob, state, states);
  else states.add(state);
  if (token?.skip === true) enter(glob, state + 2, states);
}

/** A `*` that has begun may take more or be over; no folder can be left out any more. */
function stay(glob: readonly Token[], state: number, states: Set<number>): void {
  if (states.has(state)) return;
  states.add(state);
  enter(glob, state + 1, states);
}
