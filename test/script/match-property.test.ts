import fc from 'fast-check';
import t from 'tap';
import { equalFailures, matchFailures } from '#troupe/script/prelude/match.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';
import { failingPaths, type Json } from './match-reference.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

const RUNS = { numRuns: 3_000, seed: 5 };
const keys = fc.constantFrom('a', 'b', 'c');
const leaves = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, 2, '', 'abc', 'b', 'x'),
  fc.uuid() as fc.Arbitrary<Json>,
);
const MARKERS = [
  'string',
  'number',
  'boolean',
  'array',
  'object',
  'null',
  'notnull',
  'present',
  'notpresent',
  'ignore',
];
const markers = fc
  .tuple(fc.constantFrom('#', '##'), fc.constantFrom(...MARKERS, 'uuid', 'regex [a-c]+', '? _ > 1', '[]', '[1]', '[2]'))
  .map(([sign, word]): Json => sign + word);

/** Values of at most four levels, with leaves from `of`. */
function json(of: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      of,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
}
const actuals = json(leaves);
const expectations = json(fc.oneof(leaves, markers));

/** The value with some of its parts replaced by expectations, so that it matches often enough. */
const pairs = actuals.chain((actual) => fc.tuple(fc.constant(actual), fc.oneof(expectations, loosened(actual))));

function loosened(value: Json): fc.Arbitrary<Json> {
  const same = fc.constant(value);
  if (value === null || typeof value !== 'object') return fc.oneof({ weight: 3, arbitrary: same }, markers, leaves);
  if (Array.isArray(value)) return fc.oneof(same, markers, fc.tuple(...value.map(loosened)));
  const members = Object.entries(value).map(([key, member]) => [key, loosened(member)] as const);
  return fc.oneof(
    // `requiredKeys: []` omits members, it does not make them undefined.
    {
      weight: 3,
      arbitrary: fc.record(Object.fromEntries(members), {
        requiredKeys: [],
        noNullPrototype: true,
      }) as fc.Arbitrary<Json>,
    },
    markers,
  );
}

t.test('match reports exactly the paths of the reference', (t) => {
  let matched = 0;
  fc.assert(
    fc.property(pairs, ([actual, expected]) => {
      const failures = matchFailures(actual, expected);
      const [found, wanted] = [failures.map(({ path }) => path), failingPaths(actual, expected)];
      if (found.join() !== wanted.join()) throw new Error(`${found} instead of ${wanted}`);
      if (failures.length === 0) matched += 1;
    }),
    RUNS,
  );
  t.ok(matched > 300 && matched < 2_700, `${matched} of ${RUNS.numRuns} matched: both ways are tried`);
  t.end();
});

t.test('Each failure is a sentence that begins with its path and has a bounded length', (t) => {
  fc.assert(
    fc.property(pairs, ([actual, expected]) => {
      for (const { path, message } of matchFailures(actual, expected)) {
        if (!message.startsWith(`${path} `) || message.length > path.length + 400) throw new Error(message);
      }
    }),
    RUNS,
  );
  t.end();
});

t.test('equals agrees with the language about equal JSON', (t) => {
  const sorted = (value: Json): string =>
    JSON.stringify(value, (_, member: Json) =>
      member === null || typeof member !== 'object' || Array.isArray(member)
        ? member
        : Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1))),
    );
  fc.assert(
    fc.property(actuals, actuals, (one, other) => {
      if ((equalFailures(one, other).length === 0) !== (sorted(one) === sorted(other))) throw new Error('They differ');
      if (equalFailures(one, structuredClone(one)).length > 0) throw new Error('A copy differs');
    }),
    RUNS,
  );
  t.end();
});

t.test('Messages of failures are helpful', (t) => {
  const says = (actual: unknown, expected: unknown) => matchFailures(actual, expected).map(({ message }) => message);
  const order = { id: '7', lines: [{ sku: 'a', n: 0 }], note: null };
  t.same(says(order, { id: '#number', lines: [{ n: '#? _ > 0' }, {}], note: '#notnull', total: 5, paid: '#boolean' }), [
    '$.id expected #number, got "7"',
    '$.lines expected 2 items, got 1 item',
    '$.lines[0].n is 0, for which (_ > 0) is not true',
    '$.note expected #notnull, got null',
    '$.total is missing, expected 5',
    '$.paid expected #boolean, got nothing',
  ]);
  t.same(says({ text: `${'x'.repeat(200)}right` }, { text: `${'x'.repeat(200)}wrong` }), [
    `$.text differs at character 201: expected ..."${'x'.repeat(30)}wrong", got ..."${'x'.repeat(30)}right"`,
  ]);
  t.end();
});
