import type { ImportResult } from '../curl-import/import-curl.js';
import type { Collection, CollectionPath } from './collection.js';
import { enabledPairs, listOf, member } from './json-access.js';
import { writeItem } from './write-request.js';

/**
 * Adds the imported requests at the end of a folder (`folder` is its path, by default the collection itself), and a
 * variable for each shell variable that the collection does not have yet.
 */
export function addImported(collection: Collection, imported: ImportResult, folder: CollectionPath = []): Collection {
  let made = collection;
  const items: CollectionPath = [...folder, 'item'];
  for (const request of imported.requests) {
    made = made.insert([...items, listOf(made.at(items)).length], writeItem(request));
  }
  const known = new Set(enabledPairs(member(made.root, 'variable')).map(({ key }) => key));
  const fresh = imported.variables.filter(({ name }) => !known.has(name));
  if (fresh.length > 0 && made.at(['variable']) === undefined) made = made.set(['variable'], []);
  for (const { name, value } of fresh) {
    made = made.insert(['variable', listOf(made.at(['variable'])).length], { key: name, value, type: 'string' });
  }
  return made;
}
