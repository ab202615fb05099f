import t from 'tap';
import { TapReader } from '../../scripts/support/tap-reader.mjs';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('One failing file of many is named with what tap says of it, and nothing of those that pass is shown', (t) => {
  const shown: string[] = [];
  const reader = new TapReader((line) => shown.push(line));
  const output = `TAP version 14
# Subtest: test/a.test.ts
    # Subtest: It works
        ok 1 - should be equal
        1..1
    ok 1 - It works # time=3ms
    ok 2 - It wants Docker # SKIP no engine
    1..2
ok 1 - test/a.test.ts # time=30ms
# Subtest: test/b.test.ts
    # Subtest: It fails
        not ok 1 - should be equal
          ---
          diff: |
            -1
          ...
        1..1
    not ok 1 - It fails # time=4ms
    1..1
not ok 2 - test/b.test.ts # time=40ms
  ---
  exitCode: 1
  ...
1..2`;
  for (const line of output.split('\n')) reader.read(line);
  t.same(reader.failedFiles, ['test/b.test.ts']);
  t.same(reader.counts, { passed: 3, failed: 3, skipped: 1 });
  t.same(
    shown.map((line) => line.trim()),
    [
      'ok 2 - It wants Docker # SKIP no engine',
      'ok 1 - test/a.test.ts # time=30ms',
      'not ok 1 - should be equal',
      '---',
      'diff: |',
      '-1',
      '...',
      'not ok 1 - It fails # time=4ms',
      '1..1',
      'not ok 2 - test/b.test.ts # time=40ms',
      '---',
      'exitCode: 1',
      '...',
    ],
  );
  t.end();
});
