import type { AnyNode } from 'acorn';
import { isName } from './mentions.js';
import { positionIn, type SourcePosition } from './source-edits.js';
import { flowSyntax } from './source-step.js';
import { syntaxChildren } from './syntax-children.js';

/** Where an error was thrown. `isExact` is false if it was somewhere after this position, in the same function. */
export interface ErrorPlace extends SourcePosition {
  readonly isExact: boolean;
}

/** What the engine was doing, by its message, and where a node does that. */
interface Cause {
  /** Its first group is a name, if the message has one. */
  readonly message: RegExp;
  /** The offsets at which a node can fail this way with this name. */
  find(node: AnyNode, parent: AnyNode | null, name: string): readonly number[];
}

const CAUSES: readonly Cause[] = [
  {
    message:
      /^TypeError: cannot read property 'Symbol\.(?:iterator|asyncIterator)' of (?:undefined|null)$|is not iterable$/,
    find: iterations,
  },
  { message: /^TypeError: cannot (?:read|set|delete) property '(.*)' of (?:undefined|null)$/s, find: members },
  { message: /^TypeError: cannot convert undefined or null to object$/i, find: patterns },
  { message: /^ReferenceError: '?([^\s']+)'? is not (?:defined|initialized)$/, find: variables },
  { message: /^TypeError: '(.*)' is read-only$/s, find: assignments },
  { message: /^TypeError: (?:object is not extensible|no setter for property)$/, find: assignments },
];

/**
 * Where an error that the engine itself made was thrown. The engine knows the positions of calls, operators and expression
 * statements, and reports the last of them before the failing code, or the beginning of the function's first line. What
 * the error says that it was reading is then looked for in that function.
 *
 * @param code JavaScript with the author's lines and columns
 * @param known what the engine reports
 * @param message of the error, with its name
 */
export function errorPlace(code: string, known: SourcePosition, message: string): ErrorPlace {
  const exact = { ...known, isExact: true };
  const cause = CAUSES.find((one) => one.message.test(message));
  const offset = offsetOf(code, known);
  // An error that the script made has the position of its `new`.
  if (cause === undefined || /^(?:new\s|\w*Error\b)/.test(code.slice(offset, offset + 100))) return exact;
  try {
    const [, name = ''] = cause.message.exec(message) ?? [];
    const found = functionsAt(flowSyntax(code), offset, known.column === 1).flatMap((one) =>
      candidates(one, offset, cause, name),
    );
    const [first, ...others] = found.map((at) => positionIn(code, at));
    if (first === undefined || others.some(({ line }) => line !== first.line)) return { ...known, isExact: false };
    return { ...first, isExact: true };
  } catch {
    // It is nested too deeply, for example.
    return exact;
  }

  /** The function around an offset; also those that begin on its line, if the engine may only know that line. */
  function functionsAt(program: AnyNode, at: number, isLineStart: boolean): readonly AnyNode[] {
    const end = code.indexOf('\n', at);
    const isOnLine = ({ start }: AnyNode) => start >= at && (end === -1 || start < end);
    let innermost = program;
    const beginning: AnyNode[] = [];
    walk(program, null, (node) => {
      if (!isFunction(node)) return true;
      if (node.start <= at && at < node.end) innermost = node;
      if (isLineStart && isOnLine(node) && node !== innermost) beginning.push(node);
      return true;
    });
    return [innermost, ...beginning];
  }
}

/** The offsets in a function's own code at which it can have failed. */
function candidates(root: AnyNode, offset: number, cause: Cause, name: string): readonly number[] {
  const all: { readonly at: number; readonly isUpdate: boolean }[] = [];
  /** After these nodes, or from their beginning on, the engine would have reported another position. */
  const recorded: { readonly at: number; readonly from: number }[] = [];
  const updates: AnyNode[] = [];
  walk(root, null, (node, parent) => {
    if (node !== root && isFunction(node)) return false;
    if (node.type === 'ForStatement' && node.update != null) updates.push(node.update);
    if (node.type === 'ExpressionStatement') recorded.push({ at: node.start, from: node.start });
    if (node.type === 'CallExpression') recorded.push({ at: node.callee.end, from: node.end });
    for (const at of cause.find(node, parent, name)) {
      all.push({ at, isUpdate: updates.some(({ start, end }) => start <= at && at < end) });
    }
    return true;
  });
  const bound = Math.max(offset, root.start);
  const possible = all.filter(({ at, isUpdate }) => {
    // What a loop does after its body stands before it.
    if (isUpdate) return true;
    return at >= bound && !recorded.some((one) => one.at > bound && one.from <= at);
  });
  return (possible.length === 0 ? all : possible).map(({ at }) => at);
}

/** Reads and writes of a property. A computed one can have any name. */
function members(node: AnyNode, _parent: AnyNode | null, name: string): readonly number[] {
  if (node.type === 'MemberExpression') {
    const { property } = node;
    if (node.optional) return [];
    if (property.type === 'PrivateIdentifier') return `#${property.name}` === name ? [property.start] : [];
    const isIt = node.computed
      ? property.type !== 'Literal' || String(property.value) === name
      : property.type === 'Identifier' && property.name === name;
    return isIt ? [property.start] : [];
  }
  if (node.type !== 'ObjectPattern') return [];
  return node.properties.flatMap((one) => {
    if (one.type !== 'Property') return [];
    const { key } = one;
    const isIt = one.computed || (key.type === 'Identifier' ? key.name === name : literalText(key) === name);
    return isIt ? [key.start] : [];
  });
}

function literalText(node: AnyNode): string | null {
  return node.type === 'Literal' ? String(node.value) : null;
}

function patterns(node: AnyNode): readonly number[] {
  return node.type === 'ObjectPattern' ? [node.start] : [];
}

function iterations(node: AnyNode): readonly number[] {
  switch (node.type) {
    case 'ArrayPattern':
      return [node.start];
    case 'SpreadElement':
      return [node.argument.start];
    case 'ForOfStatement':
      return [node.right.start];
    case 'YieldExpression':
      return node.delegate && node.argument != null ? [node.argument.start] : [];
    default:
      return [];
  }
}

function variables(node: AnyNode, parent: AnyNode | null, name: string): readonly number[] {
  if (node.type !== 'Identifier' || node.name !== name) return [];
  return isName(node, parent) || isDeclared(node, parent) ? [] : [node.start];
}

/** Where a name is declared, outside of patterns for objects. */
function isDeclared(node: AnyNode, parent: AnyNode | null): boolean {
  switch (parent?.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'ClassExpression':
      return parent.id === node;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return parent.body !== node;
    default:
      return false;
  }
}

/** Assignments to a variable, or to a property; to any property without a name. */
function assignments(node: AnyNode, parent: AnyNode | null, name: string): readonly number[] {
  const target =
    node.type === 'AssignmentExpression' ? node.left : node.type === 'UpdateExpression' ? node.argument : null;
  if (target === null) return [];
  if (target.type === 'Identifier') return target.name === name ? [target.start] : [];
  if (target.type !== 'MemberExpression') return [target.start];
  if (name === '') return [target.property.start];
  return members(target, parent, name);
}

function isFunction(node: AnyNode): boolean {
  return /Function(?:Declaration|Expression)$/.test(node.type);
}

/** Visits a node, and what is in it if `visit` says so. */
function walk(node: AnyNode, parent: AnyNode | null, visit: (node: AnyNode, parent: AnyNode | null) => boolean): void {
  if (!visit(node, parent)) return;
  for (const child of syntaxChildren(node)) walk(child, node, visit);
}

function offsetOf(code: string, { line, column }: SourcePosition): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const end = code.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  return start + column - 1;
}
