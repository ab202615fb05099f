/** The query of an address whose `{{variables}}` are not replaced: a variable is never split, whatever its name contains. */

/** The parameters of a query, in Postman's form: `value` is null without an equals sign. */
export function queryPairs(query: string): { readonly key: string; readonly value: string | null }[] {
  return splitOutside(query, '&').map((pair) => {
    const [key = '', ...value] = splitOutside(pair, '=');
    return { key, value: value.length === 0 ? null : value.join('=') };
  });
}

/** A parameter as a part of a query: what would end it is encoded, outside of `{{variables}}`. */
export function queryPart(key: string, value: string | null): string {
  const encoded = (text: string, reserved: RegExp): string =>
    text.replace(reserved, (one) => (one.startsWith('{{') ? one : encodeURIComponent(one)));
  return `${encoded(key, /\{\{[^{}]*\}\}|[&#=]/g)}${value === null ? '' : `=${encoded(value, /\{\{[^{}]*\}\}|[&#]/g)}`}`;
}

/** Splits a text at a character, but not inside of a variable. */
export function splitOutside(text: string, separator: string): string[] {
  const pieces = [''];
  for (const [piece] of text.matchAll(/\{\{[^{}]*\}\}|[\s\S]/g)) {
    if (piece === separator) pieces.push('');
    else pieces[pieces.length - 1] += piece;
  }
  return pieces;
}
