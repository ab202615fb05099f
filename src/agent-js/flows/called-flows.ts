import type { AnyNode } from 'acorn';
import { isName } from '../../script/source/mentions.js';
import { parseFlow } from '../../script/source/source-step.js';
import { flowName } from './flow.js';
import { textOf, walk } from './flow-check.js';
import { flowCode } from './read-flow.js';

/** What a flow runs with `Flow.run`. */
export interface CalledFlows {
  /** Paths of flows without extension, from the flows folder. */
  readonly names: ReadonlySet<string>;
  /** It may run others too: a name is computed, or the file cannot be parsed. */
  readonly others: boolean;
}

/** @param file the flow's path in the flows folder: `.ts` is TypeScript */
export function calledFlows(file: string, source: string): CalledFlows {
  const names = new Set<string>();
  let root: AnyNode;
  try {
    root = parseFlow(flowCode(file, source)).program;
  } catch {
    return { names, others: true };
  }
  const caller = flowName(file, null);
  let others = false;
  // Each mention of Flow that is no call of Flow.run with a written name may come to any flow.
  const known = new Set<AnyNode>();
  walk(root, null, (node, parent) => {
    if (node.type === 'CallExpression') {
      const { callee, arguments: given } = node;
      const path = given[0] === undefined ? null : textOf(given[0]);
      if (path !== null && isFlowRun(callee)) {
        names.add(flowName(path, caller));
        known.add(callee.object);
      }
    }
    if (node.type !== 'Identifier' || node.name !== 'Flow' || isName(node, parent)) return;
    others ||= !known.has(node);
  });
  return { names, others };
}

function isFlowRun(node: AnyNode): node is AnyNode & { type: 'MemberExpression' } {
  if (node.type !== 'MemberExpression' || node.computed || node.object.type !== 'Identifier') return false;
  return node.object.name === 'Flow' && node.property.type === 'Identifier' && node.property.name === 'run';
}
