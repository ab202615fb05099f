import t from 'tap';
import { readTap } from '../../scripts/support/read-tap.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const read = (output: string) => readTap(output.split('\n'));

t.test('What fails is shown with its details and named; nothing of what passes is shown', (t) => {
  const tap = read(`TAP version 14
# Subtest: It works
    ok 1 - should be equal
    1..1
ok 1 - It works # time=3ms
ok 2 - It wants Docker # SKIP no engine
# Subtest: It fails
    ok 1 - the status is right
    not ok 2 - the body is right
      ---
      diff: |
        -1
      ...
    1..2
not ok 3 - It fails # time=4ms
  ---
  at: here
  ...
1..3`);
  t.match(tap, { passed: 3, failed: 2, skipped: 1, plan: true, skips: ['It wants Docker # SKIP no engine'] });
  t.same(tap.failure, { test: 'It fails', failure: 'the body is right' });
  t.same(
    tap.shown.map((line) => line.trim()),
    [
      'not ok 2 - the body is right',
      '---',
      'diff: |',
      '-1',
      '...',
      'not ok 3 - It fails # time=4ms',
      '---',
      'at: here',
      '...',
    ],
  );
  t.end();
});

t.test('A file that plans nothing is skipped, and one that ends early has no plan', (t) => {
  t.match(read('TAP version 14\n1..0 # no engine here'), { passed: 0, skipped: 1, plan: true });
  t.match(read('TAP version 14\nok 1 - one'), { passed: 1, plan: false });
  t.end();
});

t.test('What a passing file leaves behind is shown', (t) => {
  t.same(read('ok 1 - one\n# LEAK worker thread 3\n1..1').shown, ['# LEAK worker thread 3']);
  t.end();
});
