import type { AnyNode } from 'acorn';
import { syntaxChildren } from '../../script/source/syntax-children.js';
import { MATCHER_NAMES } from '../checks/matcher-names.js';

type Say = (node: AnyNode, message: string) => void;

/** Says what a node of a flow's syntax has of assertions without a matcher, and of `agent.until` that can never pass. */
export function sayEmptyChecks(node: AnyNode, say: Say): void {
  if (node.type === 'ExpressionStatement') sayBareExpect(node.expression, say);
  if (node.type !== 'CallExpression' || calleeName(node.callee) !== 'agent.until') return;
  const [body] = node.arguments;
  if (body === undefined || isNoFunction(body)) {
    say(body ?? node, 'agent.until takes a function: agent.until(() => ...)');
    return;
  }
  if (body.type !== 'ArrowFunctionExpression' && body.type !== 'FunctionExpression') return;
  if (body.body.type !== 'BlockStatement') sayBareExpect(body.body, say);
  else if (!returnsValue(body.body))
    say(body, 'agent.until waits until its function returns something: it has no return');
}

/** Says that there is no such matcher, of a call on what `agent.expect` answers. */
export function sayUnknownMatcher(node: AnyNode, say: Say): void {
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') return;
  const { object, property } = node;
  const isNot = object.type === 'MemberExpression' && !object.computed && object.property.type === 'Identifier';
  const expected =
    isNot && object.property.type === 'Identifier' && object.property.name === 'not' ? object.object : object;
  if (expected.type !== 'CallExpression' || calleeName(expected.callee) !== 'agent.expect') return;
  const known: readonly string[] = expected === object ? [...MATCHER_NAMES, 'not'] : MATCHER_NAMES;
  if (known.includes(property.name)) return;
  say(property, `Unknown matcher ${property.name}. Use one of: ${MATCHER_NAMES.join(', ')}`);
}

/** `agent.expect(x)`, `agent.expect(x).not` and `agent.expect(x).toBeVisible`, and the same of Playwright's `expect`. */
function sayBareExpect(expression: AnyNode, say: Say): void {
  let node = expression.type === 'AwaitExpression' ? expression.argument : expression;
  let matcher: string | null = null;
  while (node.type === 'MemberExpression' && node.property.type === 'Identifier' && !node.computed) {
    matcher ??= node.property.name;
    node = node.object;
  }
  if (node.type !== 'CallExpression') return;
  const call = calleeName(node.callee);
  if (call === null || !/^(?:expect|expect\.(?:soft|poll)|[\w$]+\.expect)$/.test(call)) return;
  const called = matcher !== null && matcher !== 'not';
  say(
    node,
    called
      ? `${call}(...).${matcher} is not called, so it checks nothing: write ${matcher}()`
      : `${call}(...) alone checks nothing: add a matcher, such as .toBeVisible()`,
  );
}

/** `expect`, or `agent.expect`; null for what is called otherwise. */
function calleeName(callee: AnyNode): string | null {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return null;
  return callee.object.type === 'Identifier' ? `${callee.object.name}.${callee.property.name}` : null;
}

function isNoFunction(node: AnyNode): boolean {
  switch (node.type) {
    case 'Literal':
    case 'TemplateLiteral':
    case 'ArrayExpression':
    case 'ObjectExpression':
    case 'BinaryExpression':
    case 'UnaryExpression':
    case 'AwaitExpression':
      return true;
    case 'CallExpression':
      return /^agent\./.test(calleeName(node.callee) ?? '');
    default:
      return false;
  }
}

/** Whether a function's body returns a value, or ends otherwise; functions in it return for themselves. */
function returnsValue(node: AnyNode): boolean {
  if (node.type === 'ReturnStatement') return node.argument != null;
  if (node.type === 'ArrowFunctionExpression' || node.type.startsWith('Function')) return false;
  return syntaxChildren(node).some(returnsValue);
}
