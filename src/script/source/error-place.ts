import type { AnyNode } from 'acorn';
import { positionIn, type SourcePosition } from './source-edits.js';
import { syntaxChildren } from './syntax-children.js';

/** A source as JavaScript, with the author's lines and columns. */
export interface KnownSource {
  readonly code: string;
  /** Null if the code does not parse. */
  syntax(): AnyNode | null;
}

/** Where an error was thrown. `isExact` is false if it was somewhere after this position, in the same function. */
export interface ErrorPlace extends SourcePosition {
  readonly isExact: boolean;
}

/** A failure of which the engine knows no position, by its message, and the pattern that failed. */
interface Cause {
  readonly message: RegExp;
  readonly pattern: 'ArrayPattern' | 'ObjectPattern';
}

const CAUSES: readonly Cause[] = [
  {
    message: /^TypeError: (?:cannot read property 'Symbol\.iterator' of (?:undefined|null)|value is not iterable)$/,
    pattern: 'ArrayPattern',
  },
  { message: /^TypeError: cannot convert to object$/, pattern: 'ObjectPattern' },
];

/** The name of what is called, before the parenthesis or template. */
const CALLEE = /(#?[\p{ID_Start}$_][\p{ID_Continue}$]*)\s*(?:\?\.\s*)?$/u;
/** These are no name. */
const NO_CALLEE = /^(?:await|case|do|else|in|of|return|throw|typeof|void|yield)$/;
/** Characters before a parenthesis in which the name is looked for. */
const MAX_CALLEE = 200;
const BEFORE_PROPERTY = /[.[]\s*/y;

/**
 * Where an author looks for what failed or was called. The engine reports the parenthesis of a call, the dot of a property,
 * and `return` for a call whose value is returned; this is the name of what is called, and that of the property.
 *
 * @param reported what the engine reports
 */
export function authorPlace(source: KnownSource, reported: SourcePosition): SourcePosition {
  const { code } = source;
  const at = offsetOf(code, reported);
  switch (code[at]) {
    case '.':
    case '[':
      BEFORE_PROPERTY.lastIndex = at;
      return BEFORE_PROPERTY.test(code) ? moved(BEFORE_PROPERTY.lastIndex) : reported;
    case '(':
    case '`': {
      const callee = CALLEE.exec(code.slice(Math.max(0, at - MAX_CALLEE), at));
      return callee === null || NO_CALLEE.test(callee[1] ?? '') ? reported : moved(at - callee[0].length);
    }
    case 'r':
      return code.startsWith('return', at) ? moved(returnedCall(source, at)) : reported;
    default:
      return reported;
  }

  function moved(to: number): SourcePosition {
    const between = code.slice(Math.min(at, to), Math.max(at, to));
    return between.includes('\n') ? positionIn(code, to) : { ...reported, column: reported.column + to - at };
  }
}

/** The offset of what the `return` at an offset calls; the same offset if it calls nothing. */
function returnedCall(source: KnownSource, at: number): number {
  let place = at;
  walk(source.syntax(), (node) => {
    if (node.type === 'ReturnStatement' && node.start === at) place = calleeOf(node.argument) ?? at;
    return node.start <= at && at < node.end;
  });
  return place;
}

function calleeOf(value: AnyNode | null | undefined): number | null {
  switch (value?.type) {
    case 'SequenceExpression':
      return calleeOf(value.expressions.at(-1));
    case 'CallExpression':
      return nameOf(value.callee);
    case 'TaggedTemplateExpression':
      return nameOf(value.tag);
    default:
      return null;
  }
}

function nameOf(callee: AnyNode): number {
  return callee.type === 'MemberExpression' ? callee.property.start : callee.start;
}

/**
 * Where an error that the engine itself made was thrown. The engine knows the position of whatever can fail but patterns:
 * for these it reports the last position before, or the beginning of the function. They are then looked for in that function.
 *
 * @param reported what the engine reports
 * @param message of the error, with its name
 */
export function errorPlace(source: KnownSource, reported: SourcePosition, message: string): ErrorPlace {
  const { code } = source;
  const place = authorPlace(source, reported);
  const exact = { ...place, isExact: true };
  const cause = CAUSES.find((one) => one.message.test(message));
  const program = cause === undefined ? null : source.syntax();
  // An error that the script made has the position of its class.
  if (cause === undefined || program === null || isErrorClass(code, place)) return exact;
  const offset = offsetOf(code, reported);
  const found = candidates(functionAt(program, offset), offset, cause);
  const [first, ...others] = found.map((start) => positionIn(code, start));
  if (first === undefined) return exact;
  if (others.some(({ line }) => line !== first.line)) return { ...place, isExact: false };
  return { ...first, isExact: true };
}

/**
 * Where a script was when it was stopped. For a loop that has not got to anything with a position, the engine reports what it
 * did before the loop; this is the loop.
 *
 * @param reported what the engine reports
 */
export function stopPlace(source: KnownSource, reported: SourcePosition): SourcePosition {
  const at = offsetOf(source.code, reported);
  const program = source.syntax();
  const root = program === null ? null : functionAt(program, at);
  const loops: AnyNode[] = [];
  walk(root, (node) => {
    if (node !== root && isFunction(node)) return false;
    if (/^(?:For|While|DoWhile)/.test(node.type)) loops.push(node);
    return true;
  });
  const isInLoop = loops.some(({ start, end }) => start <= at && at < end);
  const next = isInLoop ? undefined : loops.find(({ start }) => start >= at);
  return next === undefined ? authorPlace(source, reported) : positionIn(source.code, next.start);
}

function isErrorClass(code: string, place: SourcePosition): boolean {
  const at = offsetOf(code, place);
  return /^\w*Error\b/.test(code.slice(at, at + 100));
}

/** The innermost function around an offset, or the program. */
function functionAt(program: AnyNode, at: number): AnyNode {
  let innermost = program;
  walk(program, (node) => {
    if (node !== program && (node.start > at || at >= node.end)) return false;
    if (isFunction(node)) innermost = node;
    return true;
  });
  return innermost;
}

/** The patterns of a function's own code that can have failed when the engine had the reported position for them. */
function candidates(root: AnyNode, reported: number, { pattern }: Cause): readonly number[] {
  const patterns: number[] = [];
  /** From their ends on, the engine would have reported them. */
  const later: AnyNode[] = [];
  let isKnown = false;
  walk(root, (node) => {
    if (node !== root && isFunction(node)) return false;
    const operand = knownOperand(node);
    if (operand != null && operand.start <= reported && reported < operand.end) isKnown = true;
    if (node.start < reported) return true;
    if (node.type === pattern) patterns.push(node.start);
    if (/^(?:Call|New|Member|Binary|Unary|Update)Expression$/.test(node.type)) later.push(node);
    return true;
  });
  return isKnown ? [] : patterns.filter((start) => !later.some(({ end }) => end <= start));
}

/** What a node iterates or deletes from: it fails with the message of a pattern, and the engine knows where. */
function knownOperand(node: AnyNode): AnyNode | null | undefined {
  switch (node.type) {
    case 'ForOfStatement':
      return node.right;
    case 'SpreadElement':
      return node.argument;
    case 'YieldExpression':
      return node.delegate ? node.argument : null;
    case 'UnaryExpression':
      return node.operator === 'delete' ? node.argument : null;
    default:
      return null;
  }
}

function isFunction(node: AnyNode): boolean {
  return /Function(?:Declaration|Expression)$/.test(node.type);
}

/** Visits a node, and what is in it if `visit` says so, in source order. Not recursive: sources can be nested deeply. */
function walk(root: AnyNode | null, visit: (node: AnyNode) => boolean): void {
  const left = root === null ? [] : [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (visit(node)) left.push(...syntaxChildren(node).toReversed());
  }
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
