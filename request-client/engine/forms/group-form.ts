import type { GroupEdit, GroupForm } from '../../protocol/request-window.js';
import { authPath } from '../collection/auth.js';
import type { Collection, CollectionPath } from '../collection/collection.js';
import { folderValues } from '../collection/folder-variables.js';
import { member } from '../collection/json-access.js';
import { inheritedAuth, readAuthForm, writeAuth } from './auth-form.js';
import { readRows, writeRows } from './rows.js';
import { readScript, writeScript } from './script-events.js';

/** The folder at `path`, or the collection (the empty path), for its tab. */
export function readGroupForm(
  collection: Collection,
  path: CollectionPath,
  idOf: (path: CollectionPath) => string,
): GroupForm {
  const group = collection.at(path);
  return {
    id: idOf(path),
    name: collection.nameAt(path),
    auth: readAuthForm(member(group, 'auth')),
    before: readScript(group, 'prerequest'),
    after: readScript(group, 'test'),
    variables: readRows(member(group, 'variable')),
    inherited: inheritedAuth(collection, path, idOf),
    folderValues: folderValues(collection, path),
  };
}

/** Applies the members of `edit` to the folder at `path`; its other members are kept. */
export function writeGroupForm(collection: Collection, path: CollectionPath, edit: GroupEdit): Collection {
  const { name, auth, before, after, variables } = edit;
  let made = collection;
  if (name !== undefined) made = made.change(path.length === 0 ? ['info', 'name'] : [...path, 'name'], name);
  if (auth !== undefined) {
    const place = authPath(made, path);
    made = made.change(place, writeAuth(made.at(place), auth));
  }
  if (before !== undefined) made = writeScript(made, path, 'prerequest', before);
  if (after !== undefined) made = writeScript(made, path, 'test', after);
  if (variables !== undefined) {
    const old = member(made.at(path), 'variable');
    if (old !== undefined || variables.length > 0) {
      const rows = writeRows(old, variables, ({ value }) => ({ value }));
      made = made.change([...path, 'variable'], rows);
    }
  }
  return made;
}
