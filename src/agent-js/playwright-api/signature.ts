import { CLASSES, type ClassName, MEMBERS, type Methods, NOT_OFFERED } from './classes.js';

export interface Parameter {
  readonly name: string;
  readonly optional: boolean;
  /** As TypeScript writes it, with the names of `options.ts`. */
  readonly type: string;
}

/** How a call runs, and what comes of it. */
export type Result =
  /** Nothing runs; the chain goes on with this class. */
  | { readonly kind: 'chain'; readonly of: ClassName }
  /** An object that stays in Playwright, or null; a list of them. */
  | { readonly kind: 'object'; readonly of: ClassName; readonly list: boolean }
  /** As `object`, and the script reads it later. `of` is null if the event decides. */
  | { readonly kind: 'later'; readonly of: ClassName | null }
  /** One locator for each match. */
  | { readonly kind: 'locators' }
  | { readonly kind: 'nothing' }
  /** JSON. */
  | { readonly kind: 'value'; readonly type: string };

export interface Signature {
  readonly parameters: readonly Parameter[];
  readonly result: Result;
}

const known = new Map<string, Signature>();

/** Of a class's method; undefined if scripts do not have it. */
export function signatureOf(className: ClassName, method: string): Signature | undefined {
  return signatureIn(CLASSES[className], className, method);
}

/** Of a method in a table, whose name tells it from other tables. */
export function signatureIn(methods: Methods, table: string, method: string): Signature | undefined {
  if (!Object.hasOwn(methods, method)) return undefined;
  const key = `${table}.${method}`;
  const [parameters, result] = methods[method] ?? ['', 'void'];
  const signature = known.get(key) ?? { parameters: parametersOf(parameters), result: resultOf(result) };
  known.set(key, signature);
  return signature;
}

/** The class of an object that is a member of others: `keyboard` of Page. */
export function memberOf(className: ClassName, name: string): ClassName | undefined {
  const members = MEMBERS[className];
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Why a class has no such method, and what to use instead. */
export function whyNotOffered(className: string, method: string): string {
  const instead = Object.hasOwn(NOT_OFFERED, method) ? NOT_OFFERED[method] : undefined;
  const what = `${className}.${method} is not offered`;
  return instead === undefined ? `${what}; docs/playwright.md lists what is` : `${what}: ${instead}`;
}

export function isClassName(name: string): name is ClassName {
  return Object.hasOwn(CLASSES, name);
}

function parametersOf(text: string): readonly Parameter[] {
  return splitTop(text).map((part) => {
    const colon = part.indexOf(':');
    const name = part.slice(0, colon).trim();
    return { name: name.replace('?', ''), optional: name.endsWith('?'), type: part.slice(colon + 1).trim() };
  });
}

/** Splits at the commas that are not inside brackets. */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return part.trim() === '' ? parts : [...parts, part];
}

function resultOf(text: string): Result {
  const name = text.slice(1).replace('[]', '');
  if (text === 'void') return { kind: 'nothing' };
  if (text === 'Locator[]') return { kind: 'locators' };
  if (text === '%') return { kind: 'later', of: null };
  if (text.startsWith('=') && isClassName(name)) return { kind: 'chain', of: name };
  if (text.startsWith('@') && isClassName(name)) return { kind: 'object', of: name, list: text.endsWith('[]') };
  if (text.startsWith('%') && isClassName(name)) return { kind: 'later', of: name };
  return { kind: 'value', type: text };
}
