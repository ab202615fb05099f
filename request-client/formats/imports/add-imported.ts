import { authAt } from '../../engine/collection/auth.js';
import type { Collection, CollectionPath } from '../../engine/collection/collection.js';
import { asObject, enabledPairs, type JsonObject, listOf, member } from '../../engine/collection/json-access.js';
import type { Imported } from './imported.js';

/**
 * Adds what was imported at the end of a folder (`folder` is its path, by default the collection itself), and each
 * variable that the collection does not have yet. Environments are files of their own and are not added. What has no
 * authorization does not inherit any: a pasted command must not send a token of this collection to another host.
 */
export function addImported(
  collection: Collection,
  imported: Pick<Imported, 'items' | 'variables'>,
  folder: CollectionPath = [],
): Collection {
  let made = collection;
  const items: CollectionPath = [...folder, 'item'];
  const inherits = authAt(collection, folder).kind !== 'none';
  for (const item of imported.items) {
    made = made.insert([...items, listOf(made.at(items)).length], inherits ? withoutInherited(item) : item);
  }
  const known = new Set(enabledPairs(member(made.root, 'variable')).map(({ key }) => key));
  const fresh = imported.variables.filter(({ name }) => !known.has(name));
  if (fresh.length > 0 && made.at(['variable']) === undefined) made = made.set(['variable'], []);
  for (const { name, value } of fresh) {
    if (known.has(name)) continue;
    known.add(name);
    made = made.insert(['variable', listOf(made.at(['variable'])).length], { key: name, value, type: 'string' });
  }
  return made;
}

function withoutInherited(item: JsonObject): JsonObject {
  const auth = { type: 'noauth' };
  if (Array.isArray(item.item)) return asObject(item.auth) === undefined ? { ...item, auth } : item;
  const request =
    typeof item.request === 'string' ? { method: 'GET', header: [], url: item.request } : asObject(item.request);
  return asObject(member(request, 'auth')) === undefined ? { ...item, request: { ...request, auth } } : item;
}
