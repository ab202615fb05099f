import type { GroupForm, RequestForm } from '../../protocol/requests/request-window.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { readDescription } from '../collection/description.js';
import { member } from '../collection/json-access.js';
import { readGroupForm } from '../window/forms/group-form.js';
import { readForm } from '../window/forms/request-form.js';

/** A folder or request with its own settings, for an exporter. */
export type ExportedNode =
  | {
      readonly kind: 'request';
      readonly id: string;
      /** As it is stored. */
      readonly item: unknown;
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
        item: node.value,
        form: readForm(collection, node.path, () => id),
        docs: readDescription(member(member(node.value, 'request'), 'description')),
        encodeUrl: member(member(node.value, 'protocolProfileBehavior'), 'disableUrlEncoding') !== true,
      };
    }
    const form = readGroupForm(collection, node.path, () => id);
    return {
      kind: 'folder',
      id,
      form,
      docs: readDescription(member(node.value, 'description')),
      children: node.children.map(made),
    };
  };
  return collection.items.map(made);
}
