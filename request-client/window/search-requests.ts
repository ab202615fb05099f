import type { CollectionNode } from '../engine/collection/collection.js';
import { member } from '../engine/collection/json-access.js';
import { requestsBelow } from '../engine/collection-run/collection-runner.js';

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

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
