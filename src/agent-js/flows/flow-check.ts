import type { AnyNode } from 'acorn';
import { isFlowFile } from '../../base/flow-file.js';
import { parseLocator } from '../../page/locator.js';
import { encodeError } from '../../protocol/errors.js';
import { type FlowForm, isUnnamed } from '../../script/source/flow-form.js';
import { isName } from '../../script/source/mentions.js';
import { positionIn } from '../../script/source/source-edits.js';
import { parseFlow } from '../../script/source/source-step.js';
import { syntaxChildren } from '../../script/source/syntax-children.js';
import { ACTIONS, GLOBALS, SCRIPT_CALLS } from '../script-api.js';
import { sayEmptyChecks, sayUnknownMatcher } from './assertion-faults.js';
import { isTypesAlone } from './flow-refusal.js';
import { flowCode } from './read-flow.js';

/** Something that will not work when the flow runs. `line` and `column` count from 1. */
export interface FlowFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A locator with a number, and where it stands. `line` and `column` count from 1. */
export interface NumberedLocator {
  readonly line: number;
  readonly column: number;
  readonly locator: string;
}

/**
 * What can be said of a flow without running it: its syntax, calls and actions that there are none of, flows that it
 * runs and that are not there, checks that check nothing, and names that scripts do not have. A name that is declared anywhere in the file counts
 * as known everywhere in it.
 *
 * @param hasFlow whether there is a flow at what `Flow.run` is given
 * @param file its name: `.ts` is TypeScript
 */
export function checkFlow(author: string, hasFlow: (path: string) => boolean, file = ''): readonly FlowFault[] {
  let form: FlowForm;
  try {
    form = parseFlow(flowCode(file, author));
  } catch (error) {
    const { error: message, details } = encodeError(error);
    const at = (value: unknown) => (typeof value === 'number' ? value : 1);
    return [{ message, line: at(details?.line), column: at(details?.column) }];
  }
  const { source } = form;
  if (isTypesAlone(file, author)) return [{ line: 1, column: 1, message: 'The file has only types; it is not a flow' }];
  const faults: (FlowFault & { readonly at: number })[] = [];
  const say = (node: AnyNode, message: string) =>
    faults.push({ ...positionIn(source, node.start), at: node.start, message });
  const declared = new Set<string>(['args', 'arguments']);
  const used: (AnyNode & { type: 'Identifier' })[] = [];
  sayIdle(form, say);
  walk(form.program, null, (node, parent) => {
    if (node.type === 'CallExpression') checkCall(node, say, hasFlow);
    sayEmptyChecks(node, say);
    sayUnknownMatcher(node, say);
    if (node.type === 'ObjectPattern') for (const name of boundNames(node)) declared.add(name);
    if (node.type !== 'Identifier' || isName(node, parent) || requiresPlaywright(node, parent)) return;
    if (declares(node, parent)) declared.add(node.name);
    used.push(node);
  });
  for (const node of used) {
    if (declared.has(node.name) || GLOBALS.has(node.name)) continue;
    say(
      node,
      `${node.name} is not defined: scripts have the language, ${Object.keys(SCRIPT_CALLS).join(', ')}, args and console`,
    );
  }
  return faults.sort((a, b) => a.at - b.at).map(({ at: _, ...fault }) => fault);
}

/** The functions of a flow that nothing can call. None of a flow that does not parse. */
export function idleFunctions(author: string, file = ''): readonly FlowFault[] {
  if (!isFlowFile(file)) return [];
  try {
    const { idle, source } = parseFlow(flowCode(file, author));
    return idle.map((one) => ({ ...positionIn(source, one.node.start), message: idleText(one) }));
  } catch {
    return [];
  }
}

function idleText({ name }: FlowForm['idle'][number]): string {
  return `${name === null ? 'This function' : `The function ${name}`} is never called: nothing in the file mentions it`;
}

/** Says which functions of a flow nothing can call, and that a file has nothing that runs. */
function sayIdle({ program, body, acts, idle }: FlowForm, say: (node: AnyNode, message: string) => void): void {
  for (const one of idle) say(one.node, idleText(one));
  if (body.kind !== 'script' || acts || idle.length > 0) return;
  const calls = program.body.some((statement) => statement.type === 'VariableDeclaration' && hasCall(statement));
  if (!calls) say(program, 'The file has nothing that runs: write `export default` before the function of the flow');
}

/** Whether a declaration calls something when it is run; functions in it do not. */
function hasCall(node: AnyNode): boolean {
  if (node.type === 'ArrowFunctionExpression' || node.type.startsWith('Function')) return false;
  if (/^(?:Call|New|Await|TaggedTemplate)Expression$/.test(node.type)) return true;
  return syntaxChildren(node).some(hasCall);
}

/**
 * Where a flow's function stands that earlier versions did not call: they ran a file as a script, unless it was one
 * function and nothing else. Null for a file that means what it meant.
 */
export function newlyCalled(author: string, file = ''): Pick<FlowFault, 'line' | 'column'> | null {
  let form: FlowForm;
  try {
    form = parseFlow(flowCode(file, author));
  } catch {
    return null;
  }
  const { program, flow, source, body } = form;
  const statements = program.body.filter(({ type }) => type !== 'EmptyStatement');
  const refusedBefore = statements.some((one) => one.type.startsWith('Export') || isUnnamed(one));
  const [only] = statements;
  const calledBefore = only?.type === 'ExpressionStatement' ? only.expression.start === only.start : only === flow;
  if (body.kind === 'script' || flow === null || refusedBefore || (statements.length === 1 && calledBefore))
    return null;
  return positionIn(source, flow.start);
}

/** The locators with a number that a flow writes down, such as `{button:2}Edit`. None of a flow that does not parse. */
export function numberedLocators(author: string, file = ''): readonly NumberedLocator[] {
  let form: FlowForm;
  try {
    form = parseFlow(flowCode(file, author));
  } catch {
    return [];
  }
  const { program, source } = form;
  const found: NumberedLocator[] = [];
  walk(program, null, (node) => {
    const text = textOf(node);
    const locator = text === null ? undefined : parseLocator(text);
    if (text === null || locator?.kind !== 'text' || locator.index === undefined) return;
    found.push({ ...positionIn(source, node.start), locator: text });
  });
  return found;
}

/** The text of a literal, or of a template without expressions; null for anything else. */
export function textOf(node: AnyNode): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}

/** `require` has Playwright's packages and no others. */
function requiresPlaywright(node: AnyNode & { type: 'Identifier' }, parent: AnyNode | null): boolean {
  if (node.name !== 'require' || parent?.type !== 'CallExpression' || parent.callee !== node) return false;
  const [name] = parent.arguments;
  return name?.type === 'Literal' && /^(?:@playwright\/test|playwright(?:-core|\/test)?)$/.test(String(name.value));
}

function checkCall(
  { callee, arguments: given }: AnyNode & { type: 'CallExpression' },
  say: (node: AnyNode, message: string) => void,
  hasFlow: (path: string) => boolean,
): void {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return;
  const { object, property } = callee;
  const calls = SCRIPT_CALLS[object.name];
  if (calls === undefined || property.type !== 'Identifier') return;
  const call = `${object.name}.${property.name}`;
  if (!calls.includes(property.name)) {
    say(property, `Unknown call ${call}(). Use one of: ${calls.map((name) => `${object.name}.${name}`).join(', ')}`);
  }
  const [first, second] = given;
  if (call === 'agent.act' && second?.type === 'Literal' && typeof second.value === 'string') {
    if (!ACTIONS.includes(second.value))
      say(second, `Unknown action '${second.value}'. Use one of: ${ACTIONS.join(', ')}`);
  }
  if (call === 'Flow.run' && first?.type === 'Literal' && typeof first.value === 'string' && !hasFlow(first.value)) {
    say(first, `There is no flow '${first.value}'`);
  }
}

/** Visits a node and all below it, each with the one that it is in. */
export function walk(
  node: AnyNode,
  parent: AnyNode | null,
  visit: (node: AnyNode, parent: AnyNode | null) => void,
): void {
  visit(node, parent);
  for (const child of syntaxChildren(node)) walk(child, node, visit);
}

/** The names that a pattern binds directly; those of patterns inside it are found at these. */
function boundNames({ properties }: AnyNode & { type: 'ObjectPattern' }): readonly string[] {
  return properties.flatMap((property) =>
    property.type === 'Property' && property.value.type === 'Identifier' ? [property.value.name] : [],
  );
}

/** Where a name is bound otherwise. */
function declares(node: AnyNode, parent: AnyNode | null): boolean {
  switch (parent?.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'ClassExpression':
      return parent.id === node;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return parent.body !== node;
    case 'CatchClause':
    case 'RestElement':
    case 'ArrayPattern':
      return true;
    case 'AssignmentPattern':
      return parent.left === node;
    default:
      return false;
  }
}
