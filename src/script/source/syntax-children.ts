import type { AnyNode } from 'acorn';

/** The direct child nodes of a node, in source order. */
export function syntaxChildren(node: AnyNode): readonly AnyNode[] {
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
