import t from 'tap';
import { byteRange } from '#troupe/gateway/byte-range.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A Range header selects bytes of a file, the whole file, or none', async (t) => {
  const cases: readonly (readonly [string, number, ReturnType<typeof byteRange>])[] = [
    ['', 10, null],
    ['bytes=0-', 10, { start: 0, end: 9 }],
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=3-5', 10, { start: 3, end: 5 }],
    ['BYTES=3-5', 10, { start: 3, end: 5 }],
    ['bytes=3-99', 10, { start: 3, end: 9 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-12', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-1', 0, 'unsatisfiable'],
    ['bytes=5-3', 10, null],
    ['bytes=-', 10, null],
    ['bytes=0-1,3-4', 10, null],
    ['bytes=a-b', 10, null],
    ['bytes=-1-2', 10, null],
    ['bytes=1e1-', 10, null],
    ['items=0-1', 10, null],
    ['bytes=9999999999999999999999-', 10, null],
  ];
  for (const [header, size, expected] of cases) t.same(byteRange(header, size), expected, `${header} of ${size}`);
});
