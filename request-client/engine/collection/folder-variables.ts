import { pathsUp } from './auth.js';
import type { Collection, CollectionPath } from './collection.js';
import { enabledPairs, member } from './json-access.js';
import type { VariableScope } from './variables.js';

/** The variables of the folders on the way to an item, the inner ones first; including a folder's own. */
export function folderScopes(collection: Collection, path: CollectionPath): VariableScope[] {
  return pathsUp(path)
    .slice(0, -1)
    .map(
      (place) => new Map(enabledPairs(member(collection.at(place), 'variable')).map(({ key, value }) => [key, value])),
    )
    .filter(({ size }) => size > 0);
}

/** The same as one object, as requests see them. */
export function folderValues(collection: Collection, path: CollectionPath): Record<string, string> {
  return Object.assign(
    {},
    ...folderScopes(collection, path)
      .reverse()
      .map((scope) => Object.fromEntries(scope)),
  );
}
