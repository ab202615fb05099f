import type { Collection, CollectionPath } from '../collection/collection.js';
import { asObject, listOf, member, textOf } from '../collection/json-access.js';

/** The first script of a request, folder or collection for this event; empty if there is none. */
export function readScript(item: unknown, listen: string): string {
  const exec = member(member(scriptEvent(item, listen), 'script'), 'exec');
  if (typeof exec === 'string') return exec;
  return listOf(exec)
    .map((line) => textOf(line) ?? '')
    .join('\n');
}

function scriptEvent(item: unknown, listen: string): unknown {
  return listOf(member(item, 'event')).find((event) => member(event, 'listen') === listen);
}

/** Replaces the script for this event; the empty text removes it. */
export function writeScript(collection: Collection, path: CollectionPath, listen: string, text: string): Collection {
  const events = listOf(member(collection.at(path), 'event'));
  const place = [...path, 'event'];
  const index = events.findIndex((event) => member(event, 'listen') === listen);
  const exec = text.split('\n');
  if (index === -1) {
    if (text === '') return collection;
    const event = { listen, script: { type: 'text/javascript', exec } };
    return events.length === 0 ? collection.set(place, [event]) : collection.insert([...place, events.length], event);
  }
  if (text === '') return collection.remove([...place, index]);
  return collection.change([...place, index, 'script'], { ...asObject(member(events[index], 'script')), exec });
}
