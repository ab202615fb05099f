import { behaviourAt } from '../../engine/collection/behaviour.js';
import type { Collection, CollectionNode } from '../../engine/collection/collection.js';
import { member, textOf } from '../../engine/collection/json-access.js';
import { readGroupForm } from '../../engine/forms/group-form.js';
import { readForm } from '../../engine/forms/request-form.js';
import type { GroupForm, RequestForm } from '../../protocol/request-window.js';

/** A folder or request with its own settings, for an exporter. */
export type ExportedNode =
  | {
      readonly kind: 'request';
      readonly id: string;
      readonly form: RequestForm;
      readonly docs: string;
      readonly encodeUrl: boolean;
    }
  | {
      readonly kind: 'folder';
      readonly id: string;
      readonly form: GroupForm;
      readonly docs: string;
      readonly children: readonly ExportedNode[];
    };

/** The tree of a collection; ids are numbers in the order of the tree. */
export function exportedTree(collection: Collection): ExportedNode[] {
  let count = 0;
  const made = (node: CollectionNode): ExportedNode => {
    count += 1;
    const id = String(count);
    if (node.kind === 'request') {
      return {
        kind: 'request',
        id,
        form: readForm(collection, node.path, () => id),
        docs: docsOf(member(node.value, 'request')),
        encodeUrl: behaviourAt(collection, node.path).disableUrlEncoding !== true,
      };
    }
    const form = readGroupForm(collection, node.path, () => id);
    return { kind: 'folder', id, form, docs: docsOf(node.value), children: node.children.map(made) };
  };
  return collection.items.map(made);
}

/** A description: a text, or Postman's object with a text. */
export function docsOf(value: unknown): string {
  const description = member(value, 'description');
  return textOf(description) ?? textOf(member(description, 'content')) ?? '';
}
