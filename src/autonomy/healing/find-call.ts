import type { CallExpression, Node } from 'acorn';
import { flowSyntax } from '../../script/source/source-step.js';

/** A call of the agent in a flow's source. */
export interface FoundCall {
  /** The JavaScript that was parsed: types of TypeScript are spaces in it. */
  readonly code: string;
  readonly call: CallExpression;
  /** The statement that contains the call: other statements can be inserted before it. */
  readonly statement: Node;
  /** True if the statement consists only of the call. */
  readonly alone: boolean;
}

const STATEMENT = /(Statement|Declaration)$/;

/** The syntax tree of a flow file, with the offsets of its text. Null if it cannot be parsed. */
export function parseFlow(source: string): Node | null {
  try {
    return flowSyntax(source);
  } catch {
    return null;
  }
}

/** A method of `agent`, or of something else: a second browser, under whatever name. */
interface WantedCall {
  readonly method: string;
  readonly ofAgent: boolean;
}

/**
 * Finds the call of a method at a position.
 * @param line 1-based, like `column`
 */
export function findCall(source: string, wanted: WantedCall, line: number, column: number | null): FoundCall | null {
  const program = parseFlow(source);
  if (program === null) return null;
  const start = source.split('\n', line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const end = source.indexOf('\n', start) === -1 ? source.length : source.indexOf('\n', start);
  const found: FoundCall[] = [];
  walk(program, null, (call, statement) => {
    const name = nameStart(call, wanted);
    if (name === null || name < start || name >= end) return;
    const alone = statement.type === 'ExpressionStatement' && Reflect.get(statement, 'expression') === call;
    found.push({ code: source, call, statement, alone });
  });
  if (column === null) return found.length === 1 ? (found[0] ?? null) : null;
  const place = start + column - 1;
  const distance = ({ call }: FoundCall) => Math.abs((nameStart(call, wanted) ?? 0) - place);
  return [...found].sort((one, other) => distance(one) - distance(other))[0] ?? null;
}

/** The position of the name in a call of the method; null for another call. */
function nameStart({ callee }: CallExpression, { method, ofAgent }: WantedCall): number | null {
  if (callee.type !== 'MemberExpression' || callee.computed) return null;
  const { object, property } = callee;
  const isAgent = object.type === 'Identifier' && object.name === 'agent';
  return isAgent === ofAgent && property.type === 'Identifier' && property.name === method ? property.start : null;
}

function walk(node: Node, statement: Node | null, visit: (call: CallExpression, statement: Node) => void): void {
  const here = STATEMENT.test(node.type) && !/^Function|^Block/.test(node.type) ? node : statement;
  if (node.type === 'CallExpression' && here !== null) visit(node as CallExpression, here);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, here, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
