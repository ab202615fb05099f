import type { RequestForm } from '../../protocol/request-window.js';

/** Values by name, as requests see them. */
export type Values = { readonly [name: string]: string };

const PLACE = /\{\{([^{}]+)\}\}/g;
/** Values may contain variables themselves, up to this depth. */
const MAX_NESTING = 20;

/** A text with its variables replaced; those without a value are kept. */
export function resolved(text: string, values: Values): string {
  let made = text;
  for (let depth = 0; depth < MAX_NESTING && made.includes('{{'); depth += 1) {
    const next = made.replace(PLACE, (place, name: string) => values[name.trim()] ?? place);
    if (next === made) break;
    made = next;
  }
  return made;
}

/** A text of the same length with a number in place of each variable, so that JSON with variables is JSON. */
export function withoutVariables(text: string): string {
  return text.replace(PLACE, (place) => '1'.repeat(place.length));
}

let dynamic: ReadonlySet<string> = new Set();

/** Call it once, with the names of the dynamic variables. */
export function learnDynamic(names: readonly string[]): void {
  dynamic = new Set(names);
}

/** Gets a new value at each occurrence when the request is sent. */
export function isDynamic(name: string): boolean {
  return dynamic.has(name);
}

/** Names in a text without a value. */
export function unresolvedIn(text: string, values: Values): string[] {
  const names = [...resolved(text, values).matchAll(PLACE)].map(([, name = '']) => name.trim());
  return [...new Set(names.filter((name) => !isDynamic(name)))];
}

/** Names without a value in the sent parts of a request: disabled rows do not count. */
export function unresolvedInForm(form: RequestForm, values: Values): string[] {
  const { url, headers, pathVariables, body, auth } = form;
  const rows = body.mode === 'urlencoded' || body.mode === 'formdata' ? body.rows : [];
  const sent = [...headers, ...pathVariables, ...rows].filter(({ enabled }) => enabled);
  const texts = [url, ...sent.flatMap(({ name, value }) => [name, value]), ...Object.values(auth.settings)];
  if (body.mode === 'raw') texts.push(body.text);
  if (body.mode === 'graphql') texts.push(body.query, body.variables);
  return unresolvedIn(texts.join('\n'), values);
}
