import fc from 'fast-check';
import t from 'tap';
import { insertElement, moveElement, removeValue, setValue } from '#request-client/engine/collection/json-edit.js';
import { extentsAlong } from '#request-client/engine/collection/json-places.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { SEED } from '../../../../test/support/seed.js';

guardLeaks(t);

/** Every path in a value. */
function paths(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const inner = Array.isArray(value)
    ? value.map((one, index) => [index, one] as const)
    : Object.entries(value).map(([key, one]) => [key, one] as const);
  return [[], ...inner.flatMap(([key, one]) => paths(one).map((path) => [key, ...path]))];
}

const at = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((own, key) => Reflect.get(Object(own), key), value);
const spacing = fc.constantFrom(undefined, '\t', '  ', 1);

t.test('the extent found for a path contains what JSON.parse finds there', async () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), spacing, (json, space) => {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value, null, space);
      for (const path of paths(value)) {
        const place = extentsAlong(text, path)[path.length];
        const found: unknown = place === undefined ? undefined : JSON.parse(text.slice(place.offset, place.end));
        if (JSON.stringify(found) !== JSON.stringify(at(value, path))) throw new Error(`not at ${path.join('.')}`);
      }
    }),
    { numRuns: 300, seed: SEED },
  );
});

t.test('an edit of the text gives the same JSON as the same edit of the value', async () => {
  const list = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      list,
      fc.nat(),
      fc.nat(),
      fc.jsonValue({ maxDepth: 1 }),
      spacing,
      (values, one, other, fresh, space) => {
        const text = JSON.stringify({ a: 1, list: values, z: {} }, null, space);
        const from = one % values.length;
        const without = values.toSpliced(from, 1);
        const to = other % (without.length + 1);
        const expected: [string, unknown][] = [
          [removeValue(text, ['list', from]), without],
          [moveElement(text, ['list', from], ['list', to]), without.toSpliced(to, 0, values[from] ?? null)],
          [insertElement(text, ['list', to], fresh), values.toSpliced(to, 0, fresh)],
          [setValue(text, ['list', from], fresh), values.with(from, fresh)],
        ];
        for (const [made, wanted] of expected) {
          if (JSON.stringify(JSON.parse(made)) !== JSON.stringify({ a: 1, list: wanted, z: {} })) throw new Error(made);
        }
        const added = JSON.parse(setValue(removeValue(text, ['a']), ['z', 'new'], fresh));
        if (JSON.stringify(added) !== JSON.stringify({ list: values, z: { new: fresh } })) throw new Error('added');
      },
    ),
    { numRuns: 300, seed: SEED },
  );
});
