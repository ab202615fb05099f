/**
 * Playwright's packages, as its recorder's output imports them. Imports of other packages stay, and are refused by the
 * parser.
 */
const IMPORT =
  /^([ \t]*)import\s+(?!type\b)([^;'"`()]*?)\s*\bfrom\s*(['"])(@playwright\/test|playwright(?:-core|\/test)?)\3[ \t]*;?/gm;
const TESTS = /(?:\bfrom\s*|\brequire\s*\(\s*)(['"])(?:@playwright\/test|playwright\/test)\1/;
const RENAMED = /\bas\b/g;

/** The source with these imports as calls of `require`, on the same lines. */
export function withRequires(source: string): string {
  if (!source.includes('import') || !source.includes('playwright')) return source;
  return source.replace(IMPORT, (_, indent: string, clause: string, quote: string, name: string) => {
    const call = `require(${quote}${name}${quote})`;
    const [, plain = '', named = ''] = /^([\w$]*)\s*,?\s*(\{[\s\S]*\}|\*\s*as\s+[\w$]+)?$/.exec(clause.trim()) ?? [];
    const bound = named.startsWith('*')
      ? [named.replace(/^\*\s*as\s+/, '')]
      : named === ''
        ? []
        : [named.replace(RENAMED, ':')];
    const names = [...(plain === '' ? [] : [plain]), ...bound];
    const parts = names.map((one, index) => `${one} = ${index === 0 && plain !== '' ? `${call}.default` : call}`);
    return `${indent}var ${parts.join(', ')};`;
  });
}

/** Runs the tests that a file declared; at the end of a file that requires them. Empty for other files. */
export function testRun(source: string): string {
  return TESTS.test(source) ? '\n;require("@playwright/test").$run();' : '';
}
