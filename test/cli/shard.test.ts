import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { planRun } from '#troupe/cli/run/plan/plan-run.js';
import { choosePart, divide, filesHash, partLine } from '#troupe/cli/run/plan/shard.js';
import { renderTimings, timingsHash, timingsOf } from '#troupe/cli/run/plan/timings.js';
import { readRunOptions } from '#troupe/cli/run/run-options.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** Flows with unique names, some with a duration. */
const anyFlows = fc.uniqueArray(
  fc.record({ name: fc.string({ maxLength: 8 }), ms: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })) }),
  { selector: ({ name }) => name, maxLength: 60 },
);

t.test('Every flow is in exactly one part, for any lists and timings, in whatever order they are', async () => {
  fc.assert(
    fc.property(anyFlows, fc.integer({ min: 1, max: 70 }), fc.integer(), (flows, count, seed) => {
      const parts = divide(flows, count);
      const byName = new Map(flows.map(({ name }, index) => [name, parts[index]]));
      if (parts.length !== flows.length) return false;
      if (!parts.every((part) => Number.isInteger(part) && part >= 1 && part <= count)) return false;
      const shuffled = [...flows].sort((a, b) => order(a.name, seed) - order(b.name, seed));
      return divide(shuffled, count).every((part, index) => byName.get(shuffled[index]?.name ?? '') === part);
    }),
    { numRuns: 500 },
  );
});

t.test('Parts of a planned run have each of its jobs once, whatever is repeated or has rows', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}(\/[a-z]{1,2})?$/), { minLength: 1, maxLength: 20 }),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.integer({ min: 1, max: 100_000 })),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      (names, known, count, repeatEach, rows) => {
        const files = { root: '/w', named: names.map((name) => `${name}.js`), texts: {} };
        const options = readRunOptions(['x', '--repeat-each', String(repeatEach)]);
        const planned = planRun(
          options,
          files,
          {},
          null,
          Array.from({ length: rows }, (_, row) => ({ row })),
        );
        const timings = new Map(Object.entries(known));
        const parts = Array.from({ length: count }, (_, index) =>
          choosePart(planned, files, timings, { shard: { index: index + 1, count }, repeatEach }),
        );
        const all = parts.flatMap(({ flows }) => flows.map(({ name }) => name));
        const agreed = parts.every(({ part }) => part.flows === parts[0]?.part.flows);
        const listed = parts.every(({ flows, part }, index) =>
          flows.every(({ name }, job) => part.names[index]?.[job] === name),
        );
        return (
          agreed &&
          listed &&
          all.sort().join() ===
            planned
              .map(({ name }) => name)
              .sort()
              .join()
        );
      },
    ),
    { numRuns: 300 },
  );
});

t.test('With durations the longest flows come first, each to the part that has least to do', async (t) => {
  const flows = [9, 7, 6, 5, 4, 1].map((ms) => ({ name: `flow-${ms}`, ms }));
  t.same(divide(flows, 3), [1, 2, 3, 3, 2, 1], '10, 11 and 11');
  t.same(
    divide(
      [
        { name: 'b', ms: null },
        { name: 'a', ms: 60 },
        { name: 'c', ms: null },
      ],
      2,
    ),
    [2, 1, 1],
  );
  t.same(
    divide(
      ['d', 'b', 'a', 'c'].map((name) => ({ name, ms: null })),
      2,
    ),
    [2, 2, 1, 1],
    'without any, by the sorted names',
  );
});

t.test(
  'The hash of the flows tells other texts, not other orders or line ends; the line says both hashes',
  async (t) => {
    const plan = (texts: { [path: string]: string }) => {
      const files = { root: '/w', named: Object.keys(texts), texts };
      return { files, flows: planRun(readRunOptions(['x']), files, {}, null) };
    };
    const hash = ({ flows, files }: ReturnType<typeof plan>) => filesHash(flows, files);
    const one = hash(plan({ 'a.js': '() => 1\n', 'b.js': '() => 2' }));
    t.equal(hash(plan({ 'b.js': '() => 2', 'a.js': '() => 1\r\n' })), one);
    t.not(hash(plan({ 'a.js': '() => 1\n', 'b.js': '() => 3' })), one);
    t.not(hash(plan({ 'a.js': '() => 1\n' })), one);
    const { flows, files } = plan({ 'a.js': '() => 1\n', 'b.js': '() => 2' });
    const timings = new Map([['a', 1500]]);
    const chosen = choosePart(flows, files, timings, { shard: { index: 2, count: 2 }, repeatEach: 1 });
    t.equal(
      partLine(chosen),
      `Part 2/2 by time: 1 of 2 flows, about 2 s of work; flows ${one}, timings ${timingsHash(timings)}`,
    );
  },
);

t.test('Timings are read from what merge wrote and from CTRF reports, and nothing else', async (t) => {
  const dir = t.testdir();
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return { timings: join(dir, name), url: undefined, own: false };
  };
  const timings = new Map([
    ['shop/buy', 1250],
    ['login', 80],
  ]);
  const read = await timingsOf(write('timings.json', renderTimings(timings)));
  t.same([...read].sort(), [...timings].sort());
  t.equal(timingsHash(read), timingsHash(timings));
  const tests = [
    { name: 'login', duration: 80, status: 'passed' },
    { name: 'shop/buy', duration: 1250 },
    { name: 'not run', duration: 0 },
  ];
  const ctrf = await timingsOf(write('ctrf.json', JSON.stringify({ results: { tests } })));
  t.equal(timingsHash(ctrf), timingsHash(timings));
  await t.rejects(timingsOf(write('bad.json', '{"a": "b"}')), /neither a CTRF report nor JSON/);
  await t.rejects(timingsOf(write('cut.json', '{"a": ')), /neither a CTRF report nor JSON/);
  const absent = { timings: join(dir, 'absent.json'), url: undefined, own: false };
  await t.rejects(timingsOf(absent), /there is no file/);
});

t.test('Wrong parts and timings without parts are refused', async (t) => {
  for (const shard of ['3/2', '0/2', '1/0', '1', '1/2/3', 'a/b', '1.5/2']) {
    t.throws(() => readRunOptions(['x', '--shard', shard]), /--shard takes a part and their number/, shard);
  }
  t.throws(() => readRunOptions(['x', '--timings', 'f']), /add --shard I/);
});

/** A number for a name that depends on a seed, to shuffle by. */
function order(name: string, seed: number): number {
  let value = seed;
  for (const character of name) value = (value * 31 + character.charCodeAt(0)) % 1_000_003;
  return value;
}
