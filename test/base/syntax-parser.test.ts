import t from 'tap';
import { SyntaxParser } from '#troupe/base/syntax-parser.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const NESTED: readonly (readonly [what: string, source: (levels: number) => string])[] = [
  ['arrays', (n) => `${'['.repeat(n)}${']'.repeat(n)}`],
  ['objects', (n) => `${'({ a: '.repeat(n)}1${'})'.repeat(n)}`],
  ['parentheses', (n) => `${'('.repeat(n)}1${')'.repeat(n)}`],
  ['functions', (n) => `${'(function () {'.repeat(n)}${'})'.repeat(n)}`],
  ['arrow functions', (n) => `${'a => '.repeat(n)}1`],
  ['methods', (n) => `${'({ m() {'.repeat(n)}${'} })'.repeat(n)}`],
  ['base classes', (n) => `${'(class extends '.repeat(n)}A${' {})'.repeat(n)}`],
  ['static blocks', (n) => `${'class A { static {'.repeat(n)}${'} }'.repeat(n)}`],
  ['blocks', (n) => `${'{'.repeat(n)}${'}'.repeat(n)}`],
  ['else if', (n) => `${'if (0) {} else '.repeat(n)}{}`],
  ['templates', (n) => `${'`${'.repeat(n)}1${'}`'.repeat(n)}`],
  ['calls', (n) => `${'f('.repeat(n)}${')'.repeat(n)}`],
  ['chains', (n) => `f${'().a'.repeat(n)}`],
  ['operators', (n) => `1${' + 1'.repeat(n)}`],
  ['powers', (n) => `1${' ** 1'.repeat(n)}`],
  ['unary operators', (n) => `${'!'.repeat(n)}1`],
  ['conditions', (n) => `${'0 ? 1 : '.repeat(n)}1`],
  ['assignments', (n) => `${'a = '.repeat(n)}1`],
  ['new', (n) => `${'new '.repeat(n)}A`],
  ['patterns', (n) => `var ${'{ a: '.repeat(n)}a${' }'.repeat(n)} = {}`],
  ['groups of a regular expression', (n) => `/${'('.repeat(n)}${')'.repeat(n)}/`],
  ['classes of a regular expression', (n) => `/${'['.repeat(n)}a${']'.repeat(n)}/v`],
];

t.test('a source is nested as deeply as anyone writes, and refused before the stack is used up', async (t) => {
  for (const [what, source] of NESTED) {
    t.doesNotThrow(() => SyntaxParser.parse(source(75), { ecmaVersion: 'latest' }), what);
    for (const levels of [1_500, 50_000]) {
      const parse = () => SyntaxParser.parse(source(levels), { ecmaVersion: 'latest' });
      t.throws(parse, { name: 'SyntaxError', message: /^The source is nested too deeply/ }, `${levels} ${what}`);
    }
  }
});

t.test('what follows each other is not nested', async (t) => {
  for (const source of ['f(1, [2], () => 3).a;\n', 'if (a) { b += 1 } else c();\n', 'var [{ a, b: [d] }] = [e];\n']) {
    t.doesNotThrow(() => SyntaxParser.parse(source.repeat(5_000), { ecmaVersion: 'latest' }), source);
  }
});
