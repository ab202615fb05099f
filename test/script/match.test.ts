import t from 'tap';
import { containsFailures, eachFailures, equalFailures, matchFailures } from '#troupe/script/prelude/match.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const paths = (failures: readonly { readonly path: string }[]): string[] => failures.map((failure) => failure.path);

t.test('an expected object checks only the members that it lists', (t) => {
  const order = { id: 7, items: [{ name: 'a', price: 1.5, tags: [] }], customer: { name: 'ann', mail: null } };
  t.same(matchFailures(order, { id: 7, customer: { name: 'ann' } }), []);
  t.same(paths(matchFailures(order, { id: 8, customer: { name: 'bob', age: 3 }, items: [{ price: 2 }] })), [
    '$.id',
    '$.customer.name',
    '$.customer.age',
    '$.items[0].price',
  ]);
  t.same(paths(matchFailures({ 'a b': 1, ä: 1 }, { 'a b': 2, ä: 2 })), ['$["a b"]', '$.ä']);
  t.same(paths(matchFailures(5, {})), ['$']);
  t.same(paths(matchFailures([], {})), ['$'], 'an array is no object');
  t.same(
    matchFailures(
      new (class {
        kind = 'x';
        get double() {
          return 2;
        }
      })(),
      { kind: 'x', double: 2 },
    ),
    [],
  );
  t.same(paths(matchFailures({}, { toString: '#present' })), ['$.toString'], 'what every object inherits is no member');
  t.end();
});

t.test('arrays match by length and order', (t) => {
  t.same(matchFailures([1, [2]], [1, [2]]), []);
  t.same(paths(matchFailures([1, 2, 3], [1, 3])), ['$', '$[1]']);
  t.match(matchFailures([1], [1, 2]), [{ path: '$', message: '$ expected 2 items, got 1 item' }]);
  t.end();
});

t.test('each marker accepts what it names and nothing else', (t) => {
  const uuid = '0b1fd5a8-9c35-4c1e-9b6e-1f2d3c4b5a69';
  const values = { string: 'x', number: 1, boolean: false, array: [], object: {}, null: null, absent: undefined, uuid };
  const takes: Record<string, readonly (keyof typeof values)[]> = {
    '#string': ['string', 'uuid'],
    '#number': ['number'],
    '#boolean': ['boolean'],
    '#array': ['array'],
    '#object': ['object'],
    '#null': ['null'],
    '#notnull': ['string', 'number', 'boolean', 'array', 'object', 'uuid'],
    '#present': ['string', 'number', 'boolean', 'array', 'object', 'null', 'uuid'],
    '#notpresent': ['absent'],
    '#ignore': ['string', 'number', 'boolean', 'array', 'object', 'null', 'absent', 'uuid'],
    '#uuid': ['uuid'],
    '#regex [a-z]': ['string'],
    '##string': ['string', 'uuid', 'null', 'absent'],
    '##number': ['number', 'null', 'absent'],
    '##regex x+': ['string', 'null', 'absent'],
    '##[0]': ['array', 'null', 'absent'],
    '##? _ === 1': ['number', 'null', 'absent'],
    '#? _ === 1': ['number'],
    '#number? _ > 0': ['number'],
    '#[]': ['array'],
    '#= #x': [],
  };
  for (const [marker, kinds] of Object.entries(takes)) {
    for (const [kind, value] of Object.entries(values)) {
      const holder = kind === 'absent' ? {} : { v: value };
      const matched = matchFailures(holder, { v: marker }).length === 0;
      t.equal(
        matched,
        kinds.some((one) => one === kind),
        `${marker} and ${kind}`,
      );
    }
  }
  t.same(paths(matchFailures(Number.NaN, '#number')), ['$'], 'NaN is no number');
  t.end();
});

t.test('array markers check the length and each item', (t) => {
  t.same(matchFailures(['a', 'b'], '#[2] #string'), []);
  t.same(matchFailures([1, 2, 3], '#[_ > 2] #number? _ < 4'), []);
  t.same(matchFailures([[1], []], '#[] #[] #number'), []);
  t.same(matchFailures([1, null], '#[] ##number'), []);
  t.same(paths(matchFailures(['a', 1, 'b', 2], '#[4] #string')), ['$[1]', '$[3]']);
  t.match(matchFailures([1], '#[2]'), [{ message: '$ should have 2 items and has 1' }]);
  t.match(matchFailures([1], '#[_ > 2]'), [{ message: '$ is 1, for which (_ > 2) is not true' }]);
  t.same(paths(matchFailures('ab', '#[2]')), ['$'], 'a string is no array');
  t.end();
});

t.test('a regex marker matches the whole string, a RegExp is searched for', (t) => {
  t.same(matchFailures('A-17', '#regex A-\\d+'), []);
  t.same(matchFailures('A-17', '#regex ^A-\\d+$'), []);
  t.same(paths(matchFailures('xA-17', '#regex A-\\d+')), ['$']);
  t.match(matchFailures('Cart and more', '#regex Cart'), [
    { message: 'expected the whole text to match #regex Cart, got "Cart and more"' },
  ]);
  t.same(matchFailures('xA-17y', /A-\d+/), []);
  t.same(paths(matchFailures('B', /A/)), ['$']);
  t.end();
});

t.test('a text that begins with # is written #= and an unknown marker is an error', (t) => {
  t.same(matchFailures('#top', '#= #top'), []);
  t.same(paths(matchFailures('#bottom', '#= #top')), ['$']);
  for (const marker of ['#strng', '#', '##', '#[2', '#[2] string', '#constructor', '#1 best', '#? (', '#regex (']) {
    t.throws(() => matchFailures('x', marker), { name: 'TypeError' }, marker);
  }
  t.throws(() => matchFailures('x', '#top'), { message: /#top is not a marker.*"#= #top"/ });
  t.end();
});

t.test('equals is strict and deep, on both sides', (t) => {
  const date = new Date(5);
  t.same(equalFailures({ a: [1, { b: date }], n: Number.NaN }, { a: [1, { b: new Date(5) }], n: Number.NaN }), []);
  t.same(paths(equalFailures({ a: 1, b: 2 }, { a: 1 })), ['$.b']);
  t.same(paths(equalFailures({ a: 1 }, { a: 1, b: undefined })), ['$.b']);
  t.same(paths(equalFailures({ a: '1' }, { a: 1 })), ['$.a']);
  t.same(paths(equalFailures({ a: 'x' }, { a: '#string' })), ['$.a'], 'a marker is a text here');
  t.same(paths(equalFailures(date, new Date(6))), ['$']);
  t.same(paths(equalFailures(/a/g, /a/)), ['$']);
  t.same(paths(equalFailures({}, [])), ['$']);
  t.end();
});

t.test('contains finds a text, items in any order, or members', (t) => {
  t.same(containsFailures('hello world', 'lo wo'), []);
  t.same(paths(containsFailures('hello', 'x')), ['$']);
  t.same(containsFailures([1, { a: 1, b: 2 }, 'x'], ['#string', { a: 1 }]), []);
  t.same(containsFailures([1, 2], 2), []);
  t.match(containsFailures([1, 2], [2, 3]), [{ path: '$', expected: 3, message: '$ has no item that matches 3' }]);
  t.same(containsFailures({ a: 1, b: 2 }, { b: 2 }), []);
  t.end();
});

t.test('each checks every item', (t) => {
  t.same(eachFailures([{ a: 1 }, { a: 2, b: 1 }], { a: '#number' }), []);
  t.same(paths(eachFailures([{ a: 1 }, { a: 'x' }, {}], { a: '#number' })), ['$[1].a', '$[2].a']);
  t.same(paths(eachFailures({}, '#number')), ['$']);
  t.end();
});

t.test('cycles end, and the number of differences is limited', (t) => {
  const loop: Record<string, unknown> = { a: 1 };
  loop.self = loop;
  const other: Record<string, unknown> = { a: 1 };
  other.self = other;
  t.ok(equalFailures(loop, other).length > 0, 'two cycles cannot be told to be equal');
  t.same(equalFailures(loop, loop), []);
  t.equal(matchFailures(new Array(1000).fill(1), new Array(1000).fill(2)).length, 100);
  t.equal(String(matchFailures('x'.repeat(10_000), 5)[0]?.actual).length, 503);
  t.end();
});
