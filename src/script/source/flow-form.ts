import type { AnyNode, ExportDefaultDeclaration, Program, VariableDeclarator } from 'acorn';
import { TroupeError } from '../../protocol/errors.js';
import { mentionedNames, patternNames } from './mentions.js';
import { positionIn } from './source-edits.js';
import { syntaxChildren } from './syntax-children.js';

type Statement = Program['body'][number];
type FunctionNode = AnyNode & { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' };

/** What a flow's file runs. */
export type FlowBody =
  /** The file itself, from top to bottom. */
  | { readonly kind: 'script' }
  /** The value of an expression of the file, which stands in `statement`. */
  | { readonly kind: 'value'; readonly statement: Statement; readonly node: AnyNode }
  /** A function that the file declares. */
  | { readonly kind: 'name'; readonly name: string };

/** A flow's file, and what of it is the flow. */
export interface FlowForm {
  readonly program: Program;
  /** The text whose offsets the nodes have. Its lines are the author's; imports of Playwright are calls in it. */
  readonly source: string;
  readonly body: FlowBody;
  /** The flow's function; null for a script, and for a default export that is computed. */
  readonly flow: FunctionNode | null;
  /** Functions that nothing calls: those of the top level that a script does not mention, and statements that are functions. */
  readonly idle: readonly { readonly name: string | null; readonly node: AnyNode }[];
  /** The top level has a statement that does something: any but directives and declarations. */
  readonly acts: boolean;
}

interface NamedFunction {
  readonly name: string;
  readonly node: FunctionNode;
}

/**
 * Finds the flow of a file:
 *
 * 1. its `export default`;
 * 2. else the last of its statements that is nothing but a function;
 * 3. else, if the top level does something, the file as a script;
 * 4. else the only function that it declares and does not use itself;
 * 5. else the file as a script.
 *
 * @throws SCRIPT_ERROR with line and column for a file with several functions of the fourth kind, for a flow that is no
 *   function or a generator, and for other exports and imports
 */
export function flowForm(program: Program, source: string): FlowForm {
  const refuse: Refuse = (node, message) => {
    const { line, column } = positionIn(source, node.start);
    throw new TroupeError('SCRIPT_ERROR', message, { line, column });
  };
  const exported = defaultExport(program, refuse);
  assertAtTop(program, source, refuse);
  const unnamed = program.body.filter(isUnnamedFunction);
  const acts = program.body.some(isActing);
  const named = program.body.flatMap(namedFunctions);
  const idleUnnamed = (flow: Statement | null) => [
    ...unnamed.filter((one) => one !== flow).map((node) => ({ name: null, node: functionIn(node) ?? node })),
    ...innerStatements(program),
  ];
  if (exported !== null) {
    const { statement, target } = exported;
    const name = target.type === 'Identifier' ? target.name : declaredName(target);
    const declared = name === null ? target : declaredAs(program, name, target, refuse);
    assertFlowNode(declared, refuse);
    const flow = functionOf(declared);
    const body: FlowBody = name === null ? { kind: 'value', statement, node: target } : { kind: 'name', name };
    return { program, source, body, flow, idle: idleUnnamed(null), acts };
  }
  const last = unnamed.at(-1);
  const node = last === undefined ? null : functionIn(last);
  if (last !== undefined && node !== null) {
    assertFlowNode(node, refuse);
    return {
      program,
      source,
      body: { kind: 'value', statement: last, node },
      flow: node,
      idle: idleUnnamed(last),
      acts,
    };
  }
  const mentioned = mentionedNames(program, new Map(named.map(({ name, node }) => [name, node])));
  const unused = named.filter(({ name }) => !mentioned.has(name));
  const inner = innerStatements(program);
  if (acts) return { program, source, body: { kind: 'script' }, flow: null, idle: [...unused, ...inner], acts };
  const [only, second] = unused;
  if (only === undefined) return { program, source, body: { kind: 'script' }, flow: null, idle: inner, acts };
  if (second !== undefined) {
    const names = unused.map(({ name, node }) => `${name} (line ${positionIn(source, node.start).line})`).join(', ');
    refuse(second.node, `Which function is the flow? Write \`export default\` before one of ${names}`);
  }
  assertFlowNode(only.node, refuse);
  return { program, source, body: { kind: 'name', name: only.name }, flow: only.node, idle: inner, acts };
}

type Refuse = (node: AnyNode, message: string) => never;

/** The default export; refuses all others. */
function defaultExport(
  program: Program,
  refuse: Refuse,
): { readonly statement: Statement; readonly target: ExportDefaultDeclaration['declaration'] } | null {
  let found: ReturnType<typeof defaultExport> = null;
  for (const statement of program.body) {
    switch (statement.type) {
      case 'ImportDeclaration':
        refuse(statement, `A flow cannot import ${String(statement.source.raw)}: run other flows with Flow.run`);
        break;
      case 'ExportAllDeclaration':
        refuse(statement, 'A flow exports its function alone: export default');
        break;
      case 'ExportDefaultDeclaration':
        found = { statement, target: statement.declaration };
        break;
      case 'ExportNamedDeclaration': {
        if (statement.declaration != null || statement.source != null)
          refuse(statement, 'A flow exports its function alone: remove this export, or write `export default`');
        for (const { local, exported } of statement.specifiers) {
          const name = exported.type === 'Identifier' ? exported.name : String(exported.value);
          if (name !== 'default' || local.type !== 'Identifier')
            refuse(statement, `A flow exports its function alone: remove ${name}, or export it as default`);
          else found = { statement, target: local };
        }
        break;
      }
      case 'ExpressionStatement':
        if (isModuleExports(statement.expression))
          refuse(statement, 'A flow has no module.exports: write `export default` before its function');
        break;
      default:
        break;
    }
  }
  return found;
}

/** Refuses imports and exports inside of statements, which the parser accepts. */
function assertAtTop(program: Program, source: string, refuse: Refuse): void {
  if (!/\b(?:im|ex)port\b/.test(source)) return;
  const visit = (node: AnyNode): void => {
    for (const child of syntaxChildren(node)) {
      if (node.type !== 'Program' && /^(?:Import|Export)\w*Declaration$/.test(child.type))
        refuse(child, 'A script cannot import or export here');
      visit(child);
    }
  };
  visit(program);
}

/** `module.exports = ...`, `module.exports.x = ...`, and `exports.x = ...`. */
function isModuleExports(node: AnyNode): boolean {
  if (node.type !== 'AssignmentExpression') return false;
  let target: AnyNode = node.left;
  if (isModuleExports(node.right)) return true;
  while (target.type === 'MemberExpression') {
    const object: AnyNode = target.object;
    const { property }: { readonly property: AnyNode } = target;
    if (object.type === 'Identifier' && object.name === 'exports') return true;
    if (object.type === 'Identifier' && object.name === 'module')
      return property.type === 'Identifier' && property.name === 'exports';
    target = object;
  }
  return false;
}

/** What the file declares under the name of its default export. */
function declaredAs(program: Program, name: string, target: AnyNode, refuse: Refuse): AnyNode {
  for (const statement of program.body) {
    const declared = statement.type === 'ExportDefaultDeclaration' ? statement.declaration : statement;
    if (declared.type === 'FunctionDeclaration' || declared.type === 'ClassDeclaration') {
      if (declared.id?.name === name) return declared;
    }
    if (declared.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declared.declarations) {
      if (id.type === 'Identifier' && id.name === name) return init ?? target;
      // It can be anything.
      if (id.type !== 'Identifier' && patternNames(id).includes(name)) return target;
    }
  }
  return refuse(target, `The default export ${name} is not declared in this file`);
}

/** Refuses what can be seen to be no function, and what only looks like one. */
function assertFlowNode(node: AnyNode, refuse: Refuse): void {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      if (node.generator) refuse(node, 'A generator cannot be a flow, since calling it runs nothing: remove the *');
      return;
    case 'ClassDeclaration':
    case 'ClassExpression':
      refuse(node, 'A class cannot be a flow: export a function as default');
      break;
    case 'ObjectExpression':
      refuse(node, 'An object cannot be a flow: export a function as default');
      break;
    case 'ArrayExpression':
    case 'Literal':
    case 'TemplateLiteral':
      refuse(node, 'A value cannot be a flow: export a function as default');
      break;
    default:
  }
}

function functionOf(node: AnyNode): FunctionNode | null {
  return isFunction(node) ? node : null;
}

function isFunction(node: AnyNode): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  );
}

function declaredName(node: AnyNode): string | null {
  return node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration' ? (node.id?.name ?? null) : null;
}

/** A statement that is nothing but a function: an arrow, `function (args) {...}`, or either in parentheses. */
function isUnnamedFunction(statement: Statement): boolean {
  return functionIn(statement) !== null;
}

function functionIn(statement: Statement): FunctionNode | null {
  if (statement.type === 'ExpressionStatement') return functionOf(statement.expression);
  return isUnnamed(statement) ? functionOf(statement) : null;
}

/** `function (args) {...}` as a statement; the parser's types know only of named ones. */
export function isUnnamed(statement: AnyNode): boolean {
  return statement.type === 'FunctionDeclaration' && declaredName(statement) === null;
}

/** Statements inside of others that are nothing but a function. */
function innerStatements(program: Program): FlowForm['idle'] {
  const found: { name: null; node: AnyNode }[] = [];
  const visit = (node: AnyNode): void => {
    for (const child of syntaxChildren(node)) {
      const isStatement = child.type === 'ExpressionStatement' && node.type !== 'Program';
      if (isStatement && isFunction(child.expression)) found.push({ name: null, node: child.expression });
      visit(child);
    }
  };
  visit(program);
  return found;
}

function namedFunctions(statement: Statement): readonly NamedFunction[] {
  if (statement.type === 'FunctionDeclaration') {
    const name = declaredName(statement);
    return name === null ? [] : [{ name, node: statement }];
  }
  if (statement.type !== 'VariableDeclaration') return [];
  return statement.declarations.flatMap(({ id, init }: VariableDeclarator) =>
    id.type === 'Identifier' && init != null && isFunction(init) ? [{ name: id.name, node: init }] : [],
  );
}

function isActing(statement: Statement): boolean {
  switch (statement.type) {
    case 'EmptyStatement':
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'VariableDeclaration':
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportDefaultDeclaration':
    case 'ExportNamedDeclaration':
      return false;
    case 'ExpressionStatement':
      return statement.directive === undefined;
    default:
      return true;
  }
}
