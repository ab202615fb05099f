import { guardedRegExp } from './guarded-reg-exp.js';

const SPECIAL = /[$^+.*()|\\?{}[\]]/;

/**
 * An address as Playwright's calls take it, with globs as expressions that end in time: `*`, `**`, `{a,b}`, a backslash
 * before a character that means itself. An address without any of these stays a text.
 */
export function urlPattern(given: unknown): unknown {
  return typeof given === 'string' && /[*{\\]/.test(given) ? guardedRegExp(globSource(given), '') : given;
}

function globSource(glob: string): string {
  let source = '^';
  let inGroup = false;
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? '';
    if (char === '\\' && at + 1 < glob.length) {
      at += 1;
      source += literal(glob[at] ?? '');
    } else if (char === '*') {
      const before = glob[at - 1];
      let stars = 1;
      for (; glob[at + 1] === '*'; at += 1) stars += 1;
      if (stars === 1) source += '([^/]*)';
      else if (glob[at + 1] !== '/') source += '(.*)';
      else {
        at += 1;
        source += before === '/' ? '((.+/)|)' : '(.*/)';
      }
    } else if (char === '{') {
      inGroup = true;
      source += '(';
    } else if (char === '}') {
      inGroup = false;
      source += ')';
    } else if (char === ',' && inGroup) source += '|';
    else source += literal(char);
  }
  return `${source}$`;
}

function literal(char: string): string {
  return SPECIAL.test(char) ? `\\${char}` : char;
}
