import { placesUp } from './auth.js';
import type { Collection, CollectionPath } from './collection.js';
import { enabledPairs, member } from './json-access.js';
import type { VariableScope } from './variables.js';

/** Variables of the folders on the way to an item, the inner ones first; a folder's own among them. */
export function folderScopes(collection: Collection, path: CollectionPath): VariableScope[] {
  return placesUp(path)
    .slice(0, -1)
    .map(
      (place) => new Map(enabledPairs(member(collection.at(place), 'variable')).map(({ key, value }) => [key, value])),
    )
    .filter(({ size }) => size > 0);
}

/** The same in one, as requests see them. */
export function folderValues(collection: Collection, path: CollectionPath): Record<string, string> {
  return Object.assign(
    {},
    ...folderScopes(collection, path)
      .reverse()
      .map((scope) => Object.fromEntries(scope)),
  );
}
