import t from 'tap';
import { holdsLines, holdsText } from '#troupe/page/acting/same-text.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('a field holds what was typed whatever it adds of separators, and not when anything is missing', (t) => {
  for (const [typed, shown, expected] of [
    ['abc', 'abc', true],
    ['Ada Lovelace', 'ADA LOVELACE', true],
    [' padded ', 'padded', true],
    ['1234567890', '(123) 456-7890', true],
    ['123-456-7890', '(123) 456-7890', true],
    ['(123) 456-7890', '123-456-7890', true],
    ['4111111111111111', '4111 1111 1111 1111', true],
    ['1225', '12/25', true],
    ['12/25', '12 / 25', true],
    ['12', '12/__/____', true],
    ['04/15/2030', '04/15/2030', true],
    ['1234.5', '$1,234.50', true],
    ['1,000', '1000', true],
    ['5', '5 %', true],
    ['1.5', '1,5', true],
    ['-5', '-5', true],
    ['-5', '−5', true],
    ['12/', '12', true],
    ['a b', 'ab', true],
    ['ﬁne', 'fine', true],
    ['', '', true],
    ['-5', '-', false],
    ['-5', '5', false],
    ['3.5', '35', false],
    ['3.5', '3', false],
    ['abcdef', 'abcde', false],
    ['abcde', 'abcdef', false],
    ['04/15/2030', '04/DD/YYYY', false],
    ['04152030', '04/DD/YYYY', false],
    ['12/25', '1225', false],
    ['a#b!c', 'ab!c', false],
    ['a.b@c.d', 'ab@c.d', false],
    ['abc', '', false],
    ['abc', 'acb', false],
    ['10', '100', false],
    ['1e5', '100000', false],
    ['text', 'text kg', false],
    ['5', '5!', false],
  ] as const) {
    t.equal(holdsText(typed, shown), expected, `${JSON.stringify(typed)} in ${JSON.stringify(shown)}`);
  }
  t.end();
});

t.test('an editor holds what was typed with every indent and bracket', (t) => {
  for (const [typed, shown, expected] of [
    ['one\ntwo', 'one\n\ntwo\n', true],
    ['if (a) {\n  b();\n}', 'if (a) {\n  b();\n}', true],
    ['if (a) {\r\n  b();\r\n}', 'if (a) {\n\u00a0 b();\n}', true],
    ['if (a) {\n  b();\n}', 'if (a) {\n    b();\n}', false],
    ['f(a)', 'f(a))', false],
    ['one\ntwo', 'one two', false],
    ['one', '', false],
  ] as const) {
    t.equal(holdsLines(typed, shown), expected, `${JSON.stringify(typed)} in ${JSON.stringify(shown)}`);
  }
  t.end();
});
