import { asObject, member, textOf } from './json-access.js';

/** A description of a collection: a text, or Postman's object with a text. */
export function readDescription(value: unknown): string {
  return textOf(value) ?? textOf(member(value, 'content')) ?? '';
}

/** The stored form of a description; other members of Postman's object are kept. Without a text there is none. */
export function writeDescription(old: unknown, text: string): unknown {
  const object = asObject(old);
  if (object !== undefined) return { ...object, content: text };
  return text === '' ? undefined : text;
}
