import type { CollectionNode } from '../collection/collection.js';
import { listOf, member } from '../collection/json-access.js';
import { requestsBelow } from '../collection-run/collection-runner.js';

/** Requests whose method, URL, headers, body, authorization, or scripts together contain all words of a search. */
export function searchRequests(items: readonly CollectionNode[], search: string): CollectionNode[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return items.flatMap(requestsBelow).filter(({ name, value }) => {
    const texts = [name, ...textsIn(member(value, 'request')), ...textsIn(member(value, 'event'))]
      .join('\n')
      .toLowerCase();
    return words.every((word) => texts.includes(word));
  });
}

/** The parts of a request, besides its name, in which a word of a search occurs. */
export function placesOf({ value }: CollectionNode, search: string): string[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const request = member(value, 'request');
  const scripts = (target: string): unknown =>
    listOf(member(value, 'event')).filter((event) => member(event, 'listen') === target);
  const places: readonly (readonly [string, unknown])[] = [
    ['URL', typeof request === 'string' ? request : member(request, 'url')],
    ['headers', member(request, 'header')],
    ['body', member(request, 'body')],
    ['auth', member(request, 'auth')],
    ['Before', scripts('prerequest')],
    ['After', scripts('test')],
    ['docs', member(request, 'description')],
  ];
  return places
    .filter(([, part]) => {
      const text = textsIn(part).join('\n').toLowerCase();
      return words.some((word) => text.includes(word));
    })
    .map(([place]) => place);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
