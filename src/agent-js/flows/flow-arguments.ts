import type { AnyNode, Pattern } from 'acorn';
import type { FlowLeaf } from '../../protocol/flow-tree.js';
import type { FlowForm } from '../../script/source/flow-form.js';
import { syntaxChildren } from '../../script/source/syntax-children.js';

type Argument = FlowLeaf['args'][number];

/** More are no arguments that a person gives. */
const MAX_ARGUMENTS = 100;
const MAX_DEFAULT = 200;

/**
 * What a flow takes of its `args`: the members that it destructures or reads by name, in their order. What it reads
 * otherwise (`args[name]`, a rest, `args` handed on whole) is not seen.
 *
 * @param form what `parseFlow` returns
 */
export function flowArguments({ program, flow, source }: FlowForm): readonly Argument[] {
  const found = new Map<string, Argument>();
  const add = (name: string, fallback: string | null): void => {
    const known = found.get(name);
    if (known === undefined && found.size >= MAX_ARGUMENTS) return;
    if (known === undefined || (known.default === null && fallback !== null)) {
      found.set(name, { name, default: fallback });
    }
  };
  const addPattern = (pattern: Pattern): void => {
    if (pattern.type !== 'ObjectPattern') return;
    for (const property of pattern.properties) {
      if (property.type !== 'Property' || property.computed) continue;
      const { key, value } = property;
      const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : null;
      const fallback = value.type === 'AssignmentPattern' ? source.slice(value.right.start, value.right.end) : null;
      if (name !== null) add(name, fallback?.slice(0, MAX_DEFAULT) ?? null);
    }
  };

  const parameter = flow?.params[0];
  const pattern = parameter?.type === 'AssignmentPattern' ? parameter.left : parameter;
  if (pattern !== undefined) addPattern(pattern);
  if (flow !== null && pattern?.type === 'Identifier') visit(flow, pattern.name, addPattern, (name) => add(name, null));
  // The top level sees `args` too.
  visit(program, 'args', addPattern, (name) => add(name, null));
  return [...found.values()];
}

function visit(node: AnyNode, args: string, onPattern: (pattern: Pattern) => void, onMember: (name: string) => void) {
  const waiting: AnyNode[] = [node];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next.type === 'VariableDeclarator' && next.init?.type === 'Identifier' && next.init.name === args) {
      onPattern(next.id);
    }
    if (next.type === 'MemberExpression' && next.object.type === 'Identifier' && next.object.name === args) {
      if (!next.computed && next.property.type === 'Identifier') onMember(next.property.name);
    }
    waiting.unshift(...syntaxChildren(next));
  }
}
