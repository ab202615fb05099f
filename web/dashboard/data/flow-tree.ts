import type { FlowLeaf, FlowNode } from '../../../src/protocol/flow-tree.js';
import type { SessionRecord } from '../../../src/protocol/session.js';
import { call } from './api.js';

/** The flows folder as a tree. @throws ApiError */
export function flowTree(): Promise<readonly FlowNode[]> {
  return call('GET', 'api/flows');
}

/** A file of the tree: a flow or a task. */
export type FlowFile = Exclude<FlowNode, { readonly kind: 'folder' }>;

/** Every file, in the tree's order. */
export function filesOf(nodes: readonly FlowNode[]): readonly FlowFile[] {
  return nodes.flatMap((node) => (node.kind === 'folder' ? filesOf(node.entries) : [node]));
}

/** The tree with only the files whose path or comment contains every word. */
export function filterTree(nodes: readonly FlowNode[], search: string): readonly FlowNode[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return nodes;
  return nodes.flatMap((node): readonly FlowNode[] => {
    if (node.kind === 'folder') {
      const entries = filterTree(node.entries, search);
      return entries.length === 0 ? [] : [{ ...node, entries }];
    }
    const text = `${node.path} ${node.about}`.toLowerCase();
    return words.every((word) => text.includes(word)) ? [node] : [];
  });
}

/** The arguments of the flows, each name once, in their order. */
export function argumentsOf(flows: readonly FlowFile[]): FlowLeaf['args'] {
  const byName = new Map<string, FlowLeaf['args'][number]>();
  for (const flow of flows) {
    if (flow.kind !== 'flow') continue;
    for (const arg of flow.args) if (!byName.has(arg.name)) byName.set(arg.name, arg);
  }
  return [...byName.values()];
}

/**
 * The arguments of a job from the form: JSON if valid, else text. Empty fields are omitted.
 * @param extra a JSON object with further arguments; may be empty
 * @throws SyntaxError if `extra` is not an object
 */
export function argsFrom(fields: { readonly [name: string]: string }, extra: string): { [name: string]: unknown } {
  const more: unknown = extra.trim() === '' ? {} : JSON.parse(extra);
  if (typeof more !== 'object' || more === null || Array.isArray(more)) {
    throw new SyntaxError('Arguments as JSON must be an object: {"name": "value"}');
  }
  const named = Object.entries(fields).filter(([, text]) => text !== '');
  return { ...Object.fromEntries(named.map(([name, text]) => [name, typed(text)])), ...more };
}

function typed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Starts a flow without a model. @returns the id of its session @throws ApiError */
export async function startFlow(file: FlowFile, args: { readonly [name: string]: unknown }): Promise<string> {
  const { id } = await call<SessionRecord>('POST', 'api/sessions', {
    mode: 'auto',
    prompt: taskOf(file),
    flowFiles: [file.path],
    maxIterations: 0,
    ...(Object.keys(args).length === 0 ? {} : { args }),
  });
  return id;
}

/** What a flow does: the first line of its comment, else its path. */
export function taskOf(file: FlowFile): string {
  return file.about.split('\n')[0] || file.path;
}
