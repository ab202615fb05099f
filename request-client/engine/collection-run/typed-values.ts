/** The values that scripts gave to variables, beside the texts that requests get. */
const typed = new WeakMap<Map<string, string>, Map<string, { readonly text: string; readonly value: unknown }>>();

/** Sets a variable to a JSON value. */
export function setTyped(scope: Map<string, string>, name: string, value: unknown): void {
  const text = textOf(value);
  scope.set(name, text);
  const values = typed.get(scope) ?? new Map();
  typed.set(scope, values);
  if (typeof value === 'string') values.delete(name);
  else values.set(name, { text, value });
}

/** The value that a script gave to the variable, unless its text was changed since; else the text. */
export function typedEntries(scope: ReadonlyMap<string, string>): [name: string, value: unknown][] {
  const values = scope instanceof Map ? typed.get(scope) : undefined;
  return [...scope].map(([name, text]) => {
    const own = values?.get(name);
    return [name, own !== undefined && own.text === text ? own.value : text];
  });
}

/** What a request gets: lists as Postman writes them, objects as JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value);
}
