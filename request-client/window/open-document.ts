import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { TroupeError } from '#troupe/protocol/errors.js';
import { Collection, type CollectionNode, type CollectionPath } from '../engine/collection/collection.js';
import { CollectionFile } from '../engine/collection/collection-file.js';
import { type JsonObject, listOf, member, textOf } from '../engine/collection/json-access.js';
import { requestsBelow } from '../engine/collection-run/collection-runner.js';
import { readGroupForm, writeGroupForm } from '../engine/forms/group-form.js';
import { readForm, writeForm } from '../engine/forms/request-form.js';
import { readRows } from '../engine/forms/rows.js';
import { addImported } from '../formats/imports/add-imported.js';
import type { Imported } from '../formats/imports/imported.js';
import type {
  DocumentView,
  GroupEdit,
  GroupForm,
  RequestEdit,
  RequestForm,
  TreeItem,
} from '../protocol/request-window.js';
import { type Draft, digestOf } from './drafts.js';
import { ItemIds, shifted, startsWith } from './item-ids.js';

/** States for undo; beyond this the oldest is dropped. */
const MAX_UNDO = 100;
const MAX_UNDO_CHARACTERS = 64 * 1024 * 1024;

interface State {
  readonly collection: Collection;
  readonly ids: ItemIds;
}

/** The open collection of the window, edited item by item. Errors: NOT_FOUND for an item that no longer exists. */
export class OpenDocument {
  #file: CollectionFile | null;
  #state: State;
  /** The text of the file; empty for a new document. */
  #saved: string;
  #past: State[] = [];
  #restored = false;
  #onChange: () => void = () => undefined;

  private constructor(collection: Collection, file: CollectionFile | null) {
    this.#file = file;
    this.#state = { collection, ids: ItemIds.of(collection.items) };
    this.#saved = collection.text;
  }

  static create(): OpenDocument {
    return new OpenDocument(Collection.create('New collection', randomUUID()), null);
  }

  /** @throws what {@link CollectionFile.open} throws */
  static async open(path: string): Promise<OpenDocument> {
    const file = await CollectionFile.open(path);
    return new OpenDocument(file.collection, file);
  }

  /** Calls `onChange` after each edit, undo, and save. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** What is kept of unsaved changes; null if there are none. */
  get draft(): Draft | null {
    return this.changed ? { text: this.collection.text, base: digestOf(this.#saved) } : null;
  }

  /** Makes unsaved changes of an earlier window again; undo returns to the file. An unreadable draft changes nothing. */
  restore({ text, base }: Draft): void {
    let collection: Collection;
    try {
      collection = Collection.parse(text);
    } catch {
      return;
    }
    if (collection.text === this.collection.text) return;
    this.#become(collection, ItemIds.of(collection.items));
    this.#restored = true;
    this.#file?.expect(base);
  }

  get collection(): Collection {
    return this.#state.collection;
  }

  /** Null if it was never saved. */
  get path(): string | null {
    return this.#file?.path ?? null;
  }

  /** It differs from the file. */
  get changed(): boolean {
    return this.collection.text !== this.#saved;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  /** The data of the document for a page, without that of the workspace. */
  get view(): Omit<DocumentView, 'environments' | 'environment' | 'values'> {
    const { collection, ids } = this.#state;
    const itemOf = ({ path, name, kind, value, children }: CollectionNode): TreeItem => ({
      id: ids.idOf(path) ?? '',
      name,
      method: kind === 'folder' ? null : (textOf(member(member(value, 'request'), 'method')) ?? 'GET'),
      children: children.map(itemOf),
    });
    const path = this.path;
    return {
      name: collection.name,
      file: path === null ? null : { path, name: basename(path) },
      changed: this.changed,
      canUndo: this.canUndo,
      restored: this.#restored,
      items: collection.items.map(itemOf),
      variables: readRows(member(collection.root, 'variable')),
    };
  }

  /** Somebody else changed the file. */
  async changedOnDisk(): Promise<boolean> {
    return this.#file !== null && (await this.#file.changedOnDisk());
  }

  /**
   * Writes to its own file, or to `path` from now on.
   * @throws INVALID_REQUEST with `details.changedOnDisk` if that would overwrite somebody else's changes
   */
  async save(path: string | null, overwrite: boolean): Promise<void> {
    const file = path === null || path === this.path ? this.#file : CollectionFile.create(path, this.collection);
    if (file === null) throw new TroupeError('INVALID_REQUEST', 'The collection has no file yet; save it under a name');
    const { collection } = this;
    file.collection = collection;
    await file.save({ overwrite });
    this.#file = file;
    this.#saved = collection.text;
    this.#restored = false;
    this.#onChange();
  }

  node(id: string): CollectionNode {
    const path = this.pathOf(id);
    let found: CollectionNode | undefined;
    let nodes = this.collection.items;
    for (let length = 2; length <= path.length; length += 2) {
      found = nodes.find((node) => node.path.at(-1) === path[length - 1]);
      nodes = found?.children ?? [];
    }
    if (found === undefined) throw gone();
    return found;
  }

  /** The id of the item at a path; undefined if there is none. */
  idOf(path: CollectionPath): string | undefined {
    return this.#state.ids.idOf(path);
  }

  /** The path of an item; empty for the collection itself. */
  pathOf(id: string): CollectionPath {
    const path = this.#state.ids.pathOf(id);
    if (path === undefined) throw gone();
    return path;
  }

  /** The form of a request. */
  form(id: string): RequestForm {
    return readForm(this.collection, this.node(id).path, (path) => this.idOf(path) ?? '');
  }

  edit(id: string, edit: RequestEdit): void {
    this.#become(writeForm(this.collection, this.node(id).path, edit), this.#state.ids);
  }

  /** The form of a folder, or of the collection. */
  groupForm(id: string): GroupForm {
    return readGroupForm(this.collection, this.#groupPath(id), (path) => this.idOf(path) ?? '');
  }

  editGroup(id: string, edit: GroupEdit): void {
    this.#become(writeGroupForm(this.collection, this.#groupPath(id), edit), this.#state.ids);
  }

  /** @returns the id of the new item, which is the last in its folder */
  add(parent: string | null, kind: 'folder' | 'request', name: string): string {
    const place = this.#endOf(parent);
    const value =
      kind === 'folder'
        ? { name, item: [] }
        : { name, request: { method: 'GET', header: [], url: { raw: '' } }, response: [] };
    return this.#inserted(this.collection.insert(place, value), place);
  }

  /** @param item of a collection @returns its id; it is the last in its folder */
  addItem(parent: string | null, item: JsonObject): string {
    const place = this.#endOf(parent);
    return this.#inserted(this.collection.insert(place, { ...item, response: [] }), place);
  }

  /** @returns the id of the copy, which follows its original */
  duplicate(id: string): string {
    const from = this.pathOf(id);
    const to = from.with(-1, Number(from.at(-1)) + 1);
    const name = `${this.node(id).name} copy`;
    let made = this.collection.copy(from, to).change([...to, 'name'], name);
    for (const key of ['id', '_postman_id']) made = made.change([...to, key], undefined);
    return this.#inserted(made, to);
  }

  remove(id: string): void {
    const path = this.pathOf(id);
    this.#become(this.collection.remove(path), this.#state.ids.removed(path));
  }

  /** @param index among the current children of `parent` @throws INVALID_REQUEST for a move into itself */
  move(id: string, parent: string | null, index: number): void {
    const from = this.pathOf(id);
    const list = this.#listOf(parent);
    if (startsWith(list, from)) throw new TroupeError('INVALID_REQUEST', 'A folder cannot be moved into itself');
    const length = listOf(this.collection.at(list)).length;
    const place = [...list, Math.min(index, length)];
    const samePlace = startsWith(place, from) || startsWith(place.with(-1, Number(place.at(-1)) - 1), from);
    if (samePlace && place.length === from.length) return;
    const to = shifted(place, from, -1);
    this.#become(this.collection.move(from, to), this.#state.ids.moved(from, to));
  }

  /** @returns the ids of the new requests, which are the last in their folder, or in new folders there */
  addImported(imported: Imported, parent: string | null): string[] {
    const list = this.#listOf(parent);
    const first = listOf(this.collection.at(list)).length;
    const collection = addImported(this.collection, imported, list.slice(0, -1));
    const ids = this.#state.ids.completed(collection.items);
    this.#become(collection, ids);
    const made = imported.items.map((_, index) => this.node(ids.idOf([...list, first + index]) ?? ''));
    return made.flatMap(requestsBelow).map(({ path }) => ids.idOf(path) ?? '');
  }

  /** Restores the state before the last edit. */
  undo(): void {
    const before = this.#past.pop();
    if (before === undefined) return;
    this.#state = { collection: before.collection, ids: before.ids.revived(this.#state.ids) };
    this.#onChange();
  }

  #inserted(collection: Collection, path: CollectionPath): string {
    const ids = this.#state.ids.inserted(path).completed(collection.items);
    this.#become(collection, ids);
    return ids.idOf(path) ?? '';
  }

  #become(collection: Collection, ids: ItemIds): void {
    if (collection.text === this.collection.text) return;
    this.#past.push(this.#state);
    const most = Math.max(1, Math.min(MAX_UNDO, Math.floor(MAX_UNDO_CHARACTERS / collection.text.length)));
    if (this.#past.length > most) this.#past.splice(0, this.#past.length - most);
    this.#state = { collection, ids };
    this.#onChange();
  }

  #groupPath(id: string): CollectionPath {
    const path = this.pathOf(id);
    if (path.length > 0 && this.node(id).kind !== 'folder')
      throw new TroupeError('INVALID_REQUEST', 'Only folders can contain requests');
    return path;
  }

  #listOf(parent: string | null): CollectionPath {
    return parent === null ? ['item'] : [...this.#groupPath(parent), 'item'];
  }

  #endOf(parent: string | null): CollectionPath {
    const list = this.#listOf(parent);
    return [...list, listOf(this.collection.at(list)).length];
  }
}

function gone(): TroupeError {
  return new TroupeError('NOT_FOUND', 'This request or folder is no longer in the collection');
}
