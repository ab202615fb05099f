import fc from 'fast-check';

/** As much of a JSON Schema as values are made from. */
export interface ValueSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ValueSchema[];
  readonly oneOf?: readonly ValueSchema[];
  readonly items?: ValueSchema;
  readonly properties?: { readonly [name: string]: ValueSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: ValueSchema | boolean;
}

const NASTY: readonly unknown[] = [
  '',
  ' ',
  '\u0000',
  '../../etc/passwd',
  '..%2f..%2f',
  "'; DROP TABLE sessions; --",
  '\r\nSet-Cookie: a=b',
  '{{secret}}',
  '__proto__',
  'constructor',
  '\ud800',
  '💣'.repeat(300),
  'examples/buy.js',
  'http://127.0.0.1:9/',
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  true,
  null,
  [],
  {},
  [[[[[]]]]],
];

/** Values that a schema allows, and, each now and then, some that it does not. */
export function valuesOf(
  schema: ValueSchema,
  components: { readonly [name: string]: ValueSchema },
  depth = 0,
): fc.Arbitrary<unknown> {
  const right = rightValuesOf(schema, components, depth);
  return fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...NASTY) });
}

function rightValuesOf(
  schema: ValueSchema,
  components: { readonly [name: string]: ValueSchema },
  depth: number,
): fc.Arbitrary<unknown> {
  if (depth > 5) return fc.constant(null);
  const inner = (next: ValueSchema) => valuesOf(next, components, depth + 1);
  if (schema.$ref !== undefined) return inner(components[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return fc.oneof(...either.map(inner));
  switch (schema.type) {
    case 'string':
      return fc.oneof(fc.string(), fc.constantFrom('examples/search.js', 'a=b', 'x/y', 'https://x.test/'));
    case 'integer':
      return fc.integer({ min: 0, max: 3 });
    case 'number':
      return fc.double({ min: 0, max: 2, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(inner(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return objectsOf(schema, inner);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function objectsOf(
  { properties = {}, required = [], additionalProperties }: ValueSchema,
  inner: (schema: ValueSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) => [name, inner(schema)] as const);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(fc.string({ maxLength: 20 }), inner(additionalProperties), { maxKeys: 3 });
  }
  const stray = fc.record({ stray: fc.jsonValue() });
  return fc.oneof(
    { weight: 9, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, stray).map(([a, b]) => ({ ...a, ...b })) },
  );
}
