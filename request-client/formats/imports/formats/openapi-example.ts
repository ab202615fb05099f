import { asObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import type { References } from './openapi-references.js';

/** Deeper values are empty: schemas may contain themselves. */
const MAX_DEPTH = 8;
/** Schemas that are looked at for one example; wide schemas that contain each other would otherwise take forever. */
const MAX_SCHEMAS = 2000;

/** An example for a schema: its own example, default, or first allowed value, or one made of its type. */
export function exampleOf(schema: unknown, references: References): unknown {
  let left = MAX_SCHEMAS;
  const made = (given: unknown, depth: number): unknown => {
    left -= 1;
    if (depth > MAX_DEPTH || left < 0) return null;
    const own = references.resolve(given);
    for (const key of ['example', 'default', 'const']) {
      const value = member(own, key);
      if (value !== undefined) return value;
    }
    const [first] = [...listOf(member(own, 'examples')), ...listOf(member(own, 'enum'))];
    if (first !== undefined) return first;
    const all = listOf(member(own, 'allOf'));
    if (all.length > 0) {
      const parts = [...all.map((part) => made(part, depth + 1)), plain(own, depth)];
      return Object.assign({}, ...parts.map((part) => asObject(part) ?? {}));
    }
    const [choice] = [...listOf(member(own, 'oneOf')), ...listOf(member(own, 'anyOf'))];
    return choice === undefined ? plain(own, depth) : made(choice, depth + 1);
  };
  const plain = (own: unknown, depth: number): unknown => {
    const stated = member(own, 'type');
    const type = textOf(Array.isArray(stated) ? stated.find((one) => one !== 'null') : stated);
    const properties = asObject(member(own, 'properties'));
    if (type === 'object' || properties !== undefined) {
      const entries = Object.entries(properties ?? {}).filter(
        ([, property]) => member(references.resolve(property), 'readOnly') !== true,
      );
      return Object.fromEntries(entries.map(([name, property]) => [name, made(property, depth + 1)]));
    }
    switch (type) {
      case 'array':
        return [made(member(own, 'items'), depth + 1)];
      case 'integer':
      case 'number':
        return member(own, 'minimum') ?? 0;
      case 'boolean':
        return true;
      default:
        return textExample(textOf(member(own, 'format')) ?? '');
    }
  };
  return made(schema, 0);
}

function textExample(format: string): string {
  const known: Readonly<Record<string, string>> = {
    'date-time': '2026-01-01T00:00:00Z',
    date: '2026-01-01',
    email: 'user@example.com',
    uuid: '00000000-0000-4000-8000-000000000000',
    uri: 'https://example.com',
  };
  return known[format] ?? 'string';
}
