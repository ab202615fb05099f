import { Collection, type CollectionNode } from '../../../engine/collection/collection.js';
import {
  asObject,
  enabledPairs,
  type JsonObject,
  listOf,
  member,
  textOf,
} from '../../../engine/collection/json-access.js';
import { memberNotes } from '../../../engine/collection/members.js';
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
  const behaviour = asObject(member(value, 'protocolProfileBehavior'));
  // A text, or an object with a text.
  const about = member(member(value, 'info'), 'description');
  const description = textOf(about) ?? textOf(member(about, 'content'));
  const folder = {
    ...folderItem({ name, items, auth, description }),
    ...(events.length === 0 ? {} : { event: events }),
    ...(behaviour === undefined ? {} : { protocolProfileBehavior: behaviour }),
  };
  warnOfSettings(value, findings);
  return { items: [folder], variables, environments: [] };
}

/** What a run of the collection would warn of, for all of it. */
function warnOfSettings(value: unknown, findings: Findings): void {
  const collection = Collection.parse(JSON.stringify({ info: {}, ...asObject(value) }));
  const visit = ({ path, name, children }: CollectionNode): void => {
    for (const { about, message } of memberNotes(collection, path)) findings.warn(name, about, message);
    for (const child of children) visit(child);
  };
  for (const { about, message } of memberNotes(collection, [])) findings.warn('', about, message);
  for (const node of collection.items) visit(node);
}
