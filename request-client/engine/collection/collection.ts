import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { TroupeError } from '#troupe/protocol/errors.js';
import { changeValue } from './change-value.js';
import { asObject, listOf, member, textOf } from './json-access.js';
import { copyElement, insertElement, moveElement, removeValue, setValue } from './json-edit.js';

/** The path of a value in a collection: `['item', 2, 'request', 'url']`. */
export type CollectionPath = readonly (string | number)[];

/** A folder or request of the tree. */
export interface CollectionNode {
  readonly path: CollectionPath;
  readonly name: string;
  readonly kind: 'folder' | 'request';
  readonly value: unknown;
  /** The items of a folder; empty for a request. */
  readonly children: readonly CollectionNode[];
}

/** Deeper folders are rejected. */
const MAX_DEPTH = 64;

/**
 * A Postman collection (v2.1, or v2.0) as the text of its file. An edit changes only the edited characters: unknown
 * members, order, numbers and spacing are kept. Immutable: an edit returns a new collection, so that the old one serves
 * for undo.
 */
export class Collection {
  readonly text: string;
  readonly root: unknown;
  #items: readonly CollectionNode[] | null = null;

  private constructor(text: string, root: unknown) {
    this.text = text;
    this.root = root;
  }

  /** @throws INVALID_REQUEST with the position of a syntax error, or the reason why it is not a collection */
  static parse(text: string): Collection {
    const root = parsed(text.replace(/^\uFEFF/, ' '));
    if (
      asObject(root) === undefined ||
      !Array.isArray(member(root, 'item')) ||
      asObject(member(root, 'info')) === undefined
    ) {
      const wrapped = asObject(member(root, 'collection')) !== undefined;
      const why = wrapped
        ? 'it is an answer of the Postman API; save only its "collection"'
        : 'it has no "info" and "item"; Troupe reads Postman collections v2.1 and v2.0';
      throw new TroupeError('INVALID_REQUEST', `The file is not a collection: ${why}`);
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

  /** The name of a folder or request; of the collection for the empty path. */
  nameAt(path: CollectionPath): string {
    return path.length === 0 ? this.name : (textOf(member(this.at(path), 'name')) ?? '');
  }

  /** The tree, in its order. */
  get items(): readonly CollectionNode[] {
    this.#items ??= nodesOf(member(this.root, 'item'), ['item'], 0);
    return this.#items;
  }

  /** The value at a path, or undefined. */
  at(path: CollectionPath): unknown {
    return path.reduce<unknown>((value, key) => {
      return typeof key === 'number' ? listOf(value)[key] : member(value, key);
    }, this.root);
  }

  /** Sets the value at `path`; a new member is added at the end of its object. */
  set(path: CollectionPath, value: unknown): Collection {
    return Collection.parse(setValue(this.text, path, value));
  }

  /** Inserts an element before the one at `path`, or at the end. */
  insert(path: CollectionPath, value: unknown): Collection {
    return Collection.parse(insertElement(this.text, path, value));
  }

  remove(path: CollectionPath): Collection {
    return Collection.parse(removeValue(this.text, path));
  }

  /** Copies the element at `from` before the one at `to`. */
  copy(from: CollectionPath, to: CollectionPath): Collection {
    return Collection.parse(copyElement(this.text, from, to));
  }

  /** Moves the element at `from` before the one that is at `to` after its removal. */
  move(from: CollectionPath, to: CollectionPath): Collection {
    return Collection.parse(moveElement(this.text, from, to));
  }

  /** Changes the value at `path`; the text of equal parts is kept. */
  change(path: CollectionPath, value: unknown): Collection {
    const changed = changeValue(this.text, this.at(path), path, value);
    return changed === this.text ? this : Collection.parse(changed);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The slower parser knows the position.
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
