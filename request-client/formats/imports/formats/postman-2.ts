import {
  asObject,
  enabledPairs,
  type JsonObject,
  listOf,
  member,
  textOf,
} from '../../../engine/collection/json-access.js';
import { folderItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';

/**
 * A Postman collection, v2.1 or v2.0, for the open one: its items as they are, in a folder if the collection has
 * settings of its own.
 */
export function readPostman2(value: unknown, findings: Findings): ImportedContent {
  const items = listOf(member(value, 'item')).flatMap((item): JsonObject[] => {
    const object = asObject(item);
    return object === undefined ? [] : [object];
  });
  const variables = enabledPairs(member(value, 'variable')).map(({ key, value: own }) => ({ name: key, value: own }));
  const auth = asObject(member(value, 'auth'));
  const events = listOf(member(value, 'event'));
  const name = textOf(member(member(value, 'info'), 'name')) ?? 'Postman collection';
  const behaviour = member(value, 'protocolProfileBehavior');
  if (behaviour !== undefined)
    findings.warn(
      '',
      'protocolProfileBehavior',
      'Settings of the whole collection are not imported: protocolProfileBehavior',
    );
  // A text, or an object with a text.
  const about = member(member(value, 'info'), 'description');
  const description = textOf(about) ?? textOf(member(about, 'content'));
  const folder = folderItem({ name, items, auth, description });
  return { items: [events.length === 0 ? folder : { ...folder, event: events }], variables, environments: [] };
}
