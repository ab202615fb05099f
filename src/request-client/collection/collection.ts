import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { TroupeError } from '../../protocol/errors.js';
import { changeValue } from './change-value.js';
import { asObject, listOf, member, textOf } from './json-access.js';
import { copyElement, insertElement, moveElement, removeValue, setValue } from './json-edit.js';

/** Where something stands in a collection: `['item', 2, 'request', 'url']`. */
export type CollectionPath = readonly (string | number)[];

/** A folder or a request of the tree. */
export interface CollectionNode {
  readonly path: CollectionPath;
  readonly name: string;
  readonly kind: 'folder' | 'request';
  readonly value: unknown;
  /** Of folders; empty for requests. */
  readonly children: readonly CollectionNode[];
}

/** Folders deeper than this are refused: no person made them. */
const MAX_DEPTH = 64;

/**
 * A Postman collection (v2.1, or v2.0 as it is) as the text of its file. An edit changes the characters of what is edited
 * and no others: members that are not known here, their order, numbers and spacing all stay. Immutable: an edit is a new
 * collection, so that an old one is an undo.
 */
export class Collection {
  readonly text: string;
  readonly root: unknown;
  #items: readonly CollectionNode[] | null = null;

  private constructor(text: string, root: unknown) {
    this.text = text;
    this.root = root;
  }

  /** @throws INVALID_REQUEST, saying where the text is no JSON, or why it is no collection */
  static parse(text: string): Collection {
    const root = parsed(text.replace(/^\uFEFF/, ' '));
    if (
      asObject(root) === undefined ||
      !Array.isArray(member(root, 'item')) ||
      asObject(member(root, 'info')) === undefined
    ) {
      const wrapped = asObject(member(root, 'collection')) !== undefined;
      const why = wrapped
        ? 'it is what the Postman API answers; save its "collection" alone'
        : 'it has no "info" and "item"; Troupe reads Postman collections v2.1 and v2.0';
      throw new TroupeError('INVALID_REQUEST', `The file is no collection: ${why}`);
    }
    return new Collection(text, root);
  }

  /** An empty v2.1 collection. */
  static create(name: string, id: string): Collection {
    const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
    return Collection.parse(`${JSON.stringify({ info: { _postman_id: id, name, schema }, item: [] }, null, '\t')}\n`);
  }

  get name(): string {
    return textOf(member(member(this.root, 'info'), 'name')) ?? '';
  }

  /** Of a folder or request; of the collection for the empty path. */
  nameAt(path: CollectionPath): string {
    return path.length === 0 ? this.name : (textOf(member(this.at(path), 'name')) ?? '');
  }

  /** The tree, in its order. */
  get items(): readonly CollectionNode[] {
    this.#items ??= nodesOf(member(this.root, 'item'), ['item'], 0);
    return this.#items;
  }

  /** What stands at a path, or undefined. */
  at(path: CollectionPath): unknown {
    return path.reduce<unknown>((value, key) => {
      return typeof key === 'number' ? listOf(value)[key] : member(value, key);
    }, this.root);
  }

  /** The value at `path` is this from now on; a new member goes to the end of its object. */
  set(path: CollectionPath, value: unknown): Collection {
    return Collection.parse(setValue(this.text, path, value));
  }

  /** A new element before the one at `path`, or at the end. */
  insert(path: CollectionPath, value: unknown): Collection {
    return Collection.parse(insertElement(this.text, path, value));
  }

  remove(path: CollectionPath): Collection {
    return Collection.parse(removeValue(this.text, path));
  }

  /** The element at `from` once more, before the one at `to`. */
  copy(from: CollectionPath, to: CollectionPath): Collection {
    return Collection.parse(copyElement(this.text, from, to));
  }

  /** The element at `from` before the one that is at `to` once it is taken away. */
  move(from: CollectionPath, to: CollectionPath): Collection {
    return Collection.parse(moveElement(this.text, from, to));
  }

  /** The value at `path` is this from now on; what is the same in both stays as it is written. */
  change(path: CollectionPath, value: unknown): Collection {
    const changed = changeValue(this.text, this.at(path), path, value);
    return changed === this.text ? this : Collection.parse(changed);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The slower reader tells where.
    const errors: ParseError[] = [];
    parse(text, errors, { disallowComments: true });
    const [error] = errors;
    const before = text.slice(0, error?.offset ?? 0).split('\n');
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const why = error === undefined ? 'it cannot be read' : printParseErrorCode(error.error);
    throw new TroupeError('INVALID_REQUEST', `The collection is not valid JSON: ${why} at ${place}`, undefined, {
      cause,
    });
  }
}

function nodesOf(items: unknown, path: CollectionPath, depth: number): CollectionNode[] {
  if (depth > MAX_DEPTH)
    throw new TroupeError('INVALID_REQUEST', `The collection has folders deeper than ${MAX_DEPTH}`);
  return listOf(items).flatMap((value, index): CollectionNode[] => {
    if (asObject(value) === undefined) return [];
    const itemPath = [...path, index];
    const inner = member(value, 'item');
    const kind = Array.isArray(inner) ? 'folder' : 'request';
    const children = kind === 'folder' ? nodesOf(inner, [...itemPath, 'item'], depth + 1) : [];
    return [{ path: itemPath, name: textOf(member(value, 'name')) ?? '', kind, value, children }];
  });
}
