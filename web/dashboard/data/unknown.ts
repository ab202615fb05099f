/** A JSON object of unknown members. */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member's text; null if it is no text, or empty. */
export function textIn(object: { readonly [key: string]: unknown }, member: string): string | null {
  const value = object[member];
  return typeof value === 'string' && value !== '' ? value : null;
}
