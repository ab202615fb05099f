import type { AnyNode, Options, Program } from 'acorn';
import { SyntaxParser } from '../../base/syntax-parser.js';
import { TroupeError } from '../../protocol/errors.js';
import { type FlowBody, type FlowForm, flowForm, isUnnamed } from './flow-form.js';
import { lexicalNames } from './mentions.js';
import { keepOwnVariables } from './own-variables.js';
import { testRun, withRequires } from './playwright-imports.js';
import { applyEdits, type EditedSource, type SourceEdit } from './source-edits.js';
import { syntaxChildren } from './syntax-children.js';

/**
 * The name under which edited sources call the engine's own await, for-await and throw. It is a constant of the
 * context's lexical scope, not a property of the global object.
 */
export const STEP_NAME = '$troupe';

const OPTIONS: Options = { ecmaVersion: 'latest', sourceType: 'script', allowHashBang: true };

/**
 * Most scripts of a console or an agent contain none of these words, and parsing them costs more than the rest of their
 * run.
 */
const NEEDS_EDITS = /\b(?:let|const|class|await|throw|async|Promise)\b|^#!/;
/** What a source without promises of its own has none of. */
const PROMISES = /\b(?:async|Promise)\b/;

/** Accepts `await` anywhere: host calls are synchronous, so it means the same in every function. */
class ScriptParser extends SyntaxParser {
  get canAwait(): boolean {
    return true;
  }
}

const FLOW_OPTIONS: Options = { ...OPTIONS, allowReturnOutsideFunction: true, allowImportExportEverywhere: true };
/** The parser's flags for a function statement: it may have no name. */
const UNNAMED_STATEMENT = 1 | 4;

/** Also accepts `function (args) {...}` as a statement of the top level, as flows were written from the beginning. */
class FlowParser extends ScriptParser {
  parseFunctionStatement(node: unknown, isAsync: boolean, inDeclaration: boolean): unknown {
    const scopes: unknown = Reflect.get(this, 'scopeStack');
    const isTop = inDeclaration && Array.isArray(scopes) && scopes.length === 1;
    const call = (name: string, ...args: unknown[]): unknown => {
      const method: unknown = Reflect.get(this, name);
      return typeof method === 'function' ? Reflect.apply(method, this, args) : undefined;
    };
    call('next');
    return call('parseFunction', node, isTop ? UNNAMED_STATEMENT : inDeclaration ? 1 : 1 | 2, false, isAsync);
  }
}

/**
 * Prepares a plain script for evaluation in the global scope:
 *
 * - a top-level `let`, `const` or `class` becomes a `var`, so that it lasts for the next script and may be declared
 *   again;
 * - `await` outside an async function becomes a call that runs the engine's jobs until the promise settles;
 * - the position of a thrown value without a stack is recorded;
 * - a promise that a statement drops is watched: if it is rejected, the script fails;
 * - closures keep the variable of their turn of a loop, see {@link keepOwnVariables}.
 *
 * {@link EditedSource.original} maps back to the author's lines and columns.
 *
 * A source without the relevant words is not even parsed; {@link checkScript} explains what is wrong if the engine then
 * rejects it.
 *
 * @throws SCRIPT_ERROR with line and column for a source that does not parse.
 */
export function prepareScript(author: string): EditedSource {
  const source = withRequires(author);
  if (!NEEDS_EDITS.test(source)) return applyEdits(source, [], testRun(source));
  const program = parsing(source, () => ScriptParser.parse(source, OPTIONS));
  const edits: SourceEdit[] = [];
  for (const statement of program.body) globalise(statement, edits);
  boundedly(() => {
    collectSteps(program, source, edits);
    if (source.includes('continue')) keepOwnVariables(program, source, edits);
  });
  return applyEdits(hideHashBang(source), edits, testRun(source));
}

/** The text of a function of a script, for an engine without the steps of this one: a page's. */
export function withoutSteps(text: string): string {
  return text.replaceAll(`${STEP_NAME}.thrown(`, '(').replaceAll(`${STEP_NAME}.dropped(`, '(');
}

/** @throws SCRIPT_ERROR with line and column for a script that does not parse */
export function checkScript(author: string): void {
  const source = withRequires(author);
  parsing(source, () => ScriptParser.parse(source, OPTIONS));
}

/** @throws SCRIPT_ERROR with line and column for a text that is no body of an async function */
export function checkAsyncBody(author: string): void {
  parsing(author, () =>
    SyntaxParser.parse(author, { ...OPTIONS, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true }),
  );
}

/**
 * Prepares the file of a flow. The value of the code is a function of `args`: it runs the file, whose declarations are
 * local, and then the flow that {@link flowForm} finds in it. The result of a script is its completion value or a
 * top-level `return`.
 *
 * @throws SCRIPT_ERROR with line and column for a source that does not parse, and for one that {@link flowForm} refuses.
 */
export function prepareFlow(author: string): { readonly edited: EditedSource; readonly form: FlowForm } {
  const source = withRequires(author);
  const form = formOf(source);
  const { program, body } = form;
  const strict = program.body.some((node) => node.type === 'ExpressionStatement' && node.directive === 'use strict');
  // A file may declare `args` itself, and has no other then.
  const head = program.body.some((node) => lexicalNames(node).includes('args'))
    ? `${strict ? "'use strict';" : ''}`
    : `${strict ? "'use strict';" : ''}var args = ${ARGS};`;
  const edits: SourceEdit[] = [{ at: 0, remove: 0, insert: `(function (${ARGS}) {${head}var ${VALUE};` }];
  for (const statement of program.body) editFunctions(statement, body, source, edits);
  boundedly(() => {
    if (body.kind === 'script') keepValues(program.body, edits);
    collectSteps(program, source, edits);
    if (source.includes('continue')) keepOwnVariables(program, source, edits);
  });
  const flow = body.kind === 'name' ? `${STEP_NAME}.flow(${body.name})` : VALUE;
  const result = body.kind === 'script' ? VALUE : `${flow}(${ARGS})`;
  const code = applyEdits(hideHashBang(source), edits, `${testRun(source)}\nreturn ${result}})`);
  return { edited: code, form };
}

/**
 * A flow's syntax as its author wrote it.
 * @throws SCRIPT_ERROR like {@link prepareFlow}
 */
export function parseFlow(author: string): FlowForm {
  return formOf(withRequires(author));
}

/**
 * Why a file that parses cannot be run as a flow; null if it can, or does not parse.
 * @returns the SCRIPT_ERROR of {@link flowForm}
 */
export function flowRefusal(author: string): TroupeError | null {
  const source = withRequires(author);
  let program: Program;
  try {
    program = flowSyntax(source);
  } catch {
    return null;
  }
  try {
    boundedly(() => flowForm(program, source));
    return null;
  } catch (error) {
    if (error instanceof TroupeError) return error;
    throw error;
  }
}

/** A flow's syntax with the offsets of its own text. @throws SCRIPT_ERROR with line and column for one that does not parse */
export function flowSyntax(author: string): Program {
  return parsing(author, () => FlowParser.parse(author, FLOW_OPTIONS));
}

const VALUE = '$troupeValue';
const ARGS = '$troupeArgs';

function formOf(source: string): FlowForm {
  const program = flowSyntax(source);
  return boundedly(() => flowForm(program, source));
}

/** Keeps the flow's function, and removes exports, which the engine does not accept in a function. */
function editFunctions(statement: Program['body'][number], body: FlowBody, source: string, edits: SourceEdit[]): void {
  const flow = body.kind === 'value' && body.statement === statement ? body.node : null;
  switch (statement.type) {
    case 'ExportDefaultDeclaration': {
      const [, between = ''] = EXPORT_DEFAULT.exec(source.slice(statement.start)) ?? [];
      edits.push({ at: statement.start, remove: 'export'.length, insert: ';' });
      edits.push({ at: statement.start + 'export'.length + between.length, remove: 'default'.length, insert: '' });
      if (flow === null) return;
      edits.push({ at: flow.start, remove: 0, insert: `${VALUE} = ${STEP_NAME}.flow((` });
      edits.push({ at: flow.end, remove: 0, insert: isUnnamed(flow) ? '));' : '))' });
      return;
    }
    case 'ExportNamedDeclaration': {
      // An edit stays in its line.
      let at = statement.start;
      for (const line of source.slice(statement.start, statement.end).split('\n')) {
        edits.push({ at, remove: line.length, insert: at === statement.start ? ';' : '' });
        at += line.length + 1;
      }
      return;
    }
    case 'ExpressionStatement':
      if (flow === null) return;
      edits.push({ at: flow.start, remove: 0, insert: `${VALUE} = (` });
      edits.push({ at: flow.end, remove: 0, insert: ')' });
      return;
    case 'FunctionDeclaration':
      if (!isUnnamed(statement)) return;
      edits.push({ at: statement.start, remove: 0, insert: flow === null ? 'void (' : `${VALUE} = (` });
      edits.push({ at: statement.end, remove: 0, insert: ');' });
      return;
    default:
  }
}

const EXPORT_DEFAULT = /^export((?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*)default/;

function parsing<T>(source: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const loc: unknown = Reflect.get(error, 'loc');
    const { line, column } = isPosition(loc) ? loc : { line: 1, column: 0 };
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    throw new TroupeError('SCRIPT_ERROR', `SyntaxError: ${explain(message, source, { line, column })}`, {
      line,
      column: column + 1,
    });
  }
}

function explain(message: string, source: string, { line, column }: { line: number; column: number }): string {
  const text = source.split('\n', line)[line - 1] ?? '';
  if (message === "'return' outside of function") return `${message}; a script's result is its last expression`;
  if (message.startsWith("'import' and 'export'")) return 'A script cannot import or export';
  const [token] = /^(?:[\w$]{1,40}|\S)/.exec(text.slice(column)) ?? [];
  const what = token === undefined ? 'Unexpected end' : `Unexpected token '${token}'`;
  return `${message === 'Unexpected token' ? what : message}: ${text.trim().slice(0, 120)}`;
}

function isPosition(value: unknown): value is { line: number; column: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'line') === 'number' &&
    typeof Reflect.get(value, 'column') === 'number'
  );
}

/** Replaced by a comment of the same length, since the code inserted before it would make it a syntax error. */
function hideHashBang(source: string): string {
  return source.startsWith('#!') ? `//${source.slice(2)}` : source;
}

/** The parser has its own depth check; walks of sources just below that limit fail here. */
function boundedly<T>(walk: () => T): T {
  try {
    return walk();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TroupeError('SCRIPT_ERROR', 'The source is nested too deeply', { line: 1, column: 1 });
  }
}

/** Turns a top-level declaration into one of the global object. */
function globalise(statement: Program['body'][number], edits: SourceEdit[]): void {
  if (statement.type === 'ClassDeclaration') {
    edits.push({ at: statement.start, remove: 0, insert: `var ${statement.id.name} = ` });
    edits.push({ at: statement.end, remove: 0, insert: ';' });
    return;
  }
  if (statement.type !== 'VariableDeclaration' || statement.kind === 'var') return;
  edits.push({ at: statement.start, remove: statement.kind.length, insert: 'var' });
  for (const { id, init, end } of statement.declarations) {
    // `let x;` sets x to undefined each time it runs, `var x;` does not.
    if (init == null && id.type === 'Identifier') edits.push({ at: end, remove: 0, insert: ' = void 0' });
  }
}

/** Stores the value of every expression statement that can be the completion value of a plain script. */
function keepValue(node: AnyNode, edits: SourceEdit[]): void {
  switch (node.type) {
    case 'ExpressionStatement':
      if (node.directive !== undefined) return;
      edits.push({ at: node.expression.start, remove: 0, insert: `${VALUE} = (` });
      edits.push({ at: node.expression.end, remove: 0, insert: ')' });
      return;
    case 'BlockStatement':
      keepValues(node.body, edits);
      return;
    case 'IfStatement':
      keepValue(node.consequent, edits);
      if (node.alternate) keepValue(node.alternate, edits);
      return;
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'LabeledStatement':
    case 'WithStatement':
      keepValue(node.body, edits);
      return;
    case 'TryStatement':
      keepValue(node.block, edits);
      if (node.handler) keepValue(node.handler.body, edits);
      return;
    case 'SwitchStatement':
      for (const branch of node.cases) keepValues(branch.consequent, edits);
      return;
    default:
      return;
  }
}

const COMPOUND = /^(If|For|ForIn|ForOf|While|DoWhile|Labeled|With|Try|Switch)Statement$/;

function keepValues(statements: readonly AnyNode[], edits: SourceEdit[]): void {
  for (const statement of statements) {
    // A compound statement that evaluates nothing has the value undefined, not that of the statement before it.
    if (COMPOUND.test(statement.type)) edits.push({ at: statement.start, remove: 0, insert: `${VALUE} = void 0; ` });
    keepValue(statement, edits);
  }
}

/** Statements of these can drop a promise. One with `void` means to. */
const DROPS = /^(?:Call|Conditional|Logical|Sequence)Expression$/;

/** Collects the edits for await, for-await, throw and dropped promises, from the outside in. */
function collectSteps(root: AnyNode, source: string, edits: SourceEdit[]): void {
  // Most sources contain none of these words and need no walk.
  const promises = PROMISES.test(source);
  if (!promises && !source.includes('await') && !source.includes('throw')) return;
  visit(root, false);

  function visit(node: AnyNode, inAsync: boolean): void {
    let inside = inAsync;
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        inside = node.async;
        break;
      case 'PropertyDefinition':
      case 'StaticBlock':
        inside = false;
        break;
      case 'ExpressionStatement':
        if (!promises || !DROPS.test(node.expression.type)) break;
        // The second pair of parentheses is for a sequence: its own are not part of its node.
        edits.push({ at: node.expression.start, remove: 0, insert: `${STEP_NAME}.dropped((` });
        edits.push({ at: node.expression.end, remove: 0, insert: '))' });
        break;
      case 'AwaitExpression':
        if (inAsync) break;
        edits.push({ at: node.start, remove: 'await'.length, insert: `${STEP_NAME}.settle(` });
        edits.push({ at: node.end, remove: 0, insert: ')' });
        break;
      case 'ForOfStatement':
        if (!node.await || inAsync) break;
        edits.push({ at: source.indexOf('await', node.start), remove: 'await'.length, insert: '' });
        edits.push({ at: node.right.start, remove: 0, insert: `${STEP_NAME}.each(` });
        edits.push({ at: node.right.end, remove: 0, insert: ')' });
        break;
      case 'ThrowStatement':
        if (node.argument.type === 'NewExpression' || node.argument.type === 'Identifier') break;
        edits.push({ at: node.argument.start, remove: 0, insert: `${STEP_NAME}.thrown((` });
        edits.push({ at: node.argument.end, remove: 0, insert: '))' });
        break;
      default:
        break;
    }
    for (const child of syntaxChildren(node)) visit(child, inside);
  }
}
