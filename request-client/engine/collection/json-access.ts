/** For JSON from elsewhere: a missing value or one of another type is undefined, never an error. */
export type JsonObject = { readonly [key: string]: unknown };

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

export function member(value: unknown, key: string): unknown {
  const object = asObject(value);
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string; numbers and booleans as text, since Postman writes both. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The enabled entries of a `{key, value}` list. */
export function enabledPairs(
  value: unknown,
): { readonly key: string; readonly value: string; readonly entry: unknown }[] {
  return listOf(value).flatMap((entry) => {
    const key = textOf(member(entry, 'key'));
    if (key === undefined || member(entry, 'disabled') === true || member(entry, 'enabled') === false) return [];
    return [{ key, value: textOf(member(entry, 'value')) ?? '', entry }];
  });
}
