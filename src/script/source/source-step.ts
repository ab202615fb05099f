import { type AnyNode, type Options, Parser, type Program } from 'acorn';
import { TroupeError } from '../../protocol/errors.js';
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
const NEEDS_EDITS = /\b(?:let|const|class|await|throw)\b|^#!/;

/** Accepts `await` anywhere: host calls are synchronous, so it means the same in every function. */
class ScriptParser extends Parser {
  get canAwait(): boolean {
    return true;
  }
}

/**
 * Prepares a plain script for evaluation in the global scope:
 *
 * - a top-level `let`, `const` or `class` becomes a `var`, so that it lasts for the next script and may be declared
 *   again;
 * - `await` outside an async function becomes a call that runs the engine's jobs until the promise settles;
 * - the position of a thrown value without a stack is recorded.
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
  collectSteps(program, source, edits);
  return applyEdits(hideHashBang(source), edits, testRun(source));
}

/** @throws SCRIPT_ERROR with line and column for a script that does not parse */
export function checkScript(author: string): void {
  const source = withRequires(author);
  parsing(source, () => ScriptParser.parse(source, OPTIONS));
}

/** @throws SCRIPT_ERROR with line and column for a text that is no body of an async function */
export function checkAsyncBody(author: string): void {
  parsing(author, () =>
    Parser.parse(author, { ...OPTIONS, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true }),
  );
}

/**
 * Prepares the file of a flow. The value of the code is a function of `args` for every form of the file: a function, an
 * arrow, or a plain script, whose declarations are local and whose result is its completion value or a top-level
 * `return`.
 *
 * @throws SCRIPT_ERROR with line and column for a source that does not parse.
 */
export function prepareFlow(author: string): EditedSource {
  const source = withRequires(author);
  const edits: SourceEdit[] = [];
  const body = functionOf(source);
  if (body.found) {
    edits.push({ at: 0, remove: 0, insert: '(' });
    collectSteps(body.node, source, edits);
    return applyEdits(hideHashBang(source.slice(0, body.node.end)), edits, '\n)');
  }
  const program = parsing(source, () => parsePlain(source, body.error));
  const strict = program.body.some((node) => node.type === 'ExpressionStatement' && node.directive === 'use strict');
  const prologue = strict ? "'use strict';" : '';
  edits.push({ at: 0, remove: 0, insert: `(function (args) {${prologue}var ${VALUE};` });
  keepValues(program.body, edits);
  collectSteps(program, source, edits);
  return applyEdits(hideHashBang(source), edits, `${testRun(source)}\nreturn ${VALUE}})`);
}

/**
 * A flow's syntax as its author wrote it: its function, or the program if the file is a plain script.
 * @throws SCRIPT_ERROR with line and column for a source that does not parse
 */
export function parseFlow(author: string): AnyNode {
  const source = withRequires(author);
  const body = functionOf(source);
  return body.found ? body.node : parsing(source, () => parsePlain(source, body.error));
}

const VALUE = '$troupeValue';

type FlowBody = { readonly found: true; readonly node: AnyNode } | { readonly found: false; readonly error: unknown };

/** Parses the file as one function expression with nothing else. */
function functionOf(source: string): FlowBody {
  try {
    const node: AnyNode = ScriptParser.parseExpressionAt(source, 0, OPTIONS);
    if (node.type !== 'FunctionExpression' && node.type !== 'ArrowFunctionExpression')
      return { found: false, error: null };
    // Only comments and semicolons may follow.
    const rest = ScriptParser.parse(source.slice(0, node.end).replace(/\S/g, ' ') + source.slice(node.end), OPTIONS);
    const alone = rest.body.every((statement) => statement.type === 'EmptyStatement');
    return alone ? { found: true, node } : { found: false, error: null };
  } catch (error) {
    return { found: false, error };
  }
}

/** If a file parses as neither, the attempt that got further reports the author's error. */
function parsePlain(source: string, asFunction: unknown): Program {
  try {
    return ScriptParser.parse(source, { ...OPTIONS, allowReturnOutsideFunction: true });
  } catch (error) {
    throw offset(asFunction) > offset(error) ? asFunction : error;
  }
}

function offset(error: unknown): number {
  const pos: unknown = error instanceof SyntaxError ? Reflect.get(error, 'pos') : undefined;
  return typeof pos === 'number' ? pos : -1;
}

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

/** Collects the edits for await, for-await and throw, from the outside in. */
function collectSteps(root: AnyNode, source: string, edits: SourceEdit[]): void {
  // Most sources contain neither word and need no walk.
  if (!source.includes('await') && !source.includes('throw')) return;
  try {
    visit(root, false);
  } catch (error) {
    // The parser has its own depth check; sources just below that limit fail here.
    if (!(error instanceof RangeError)) throw error;
    throw new TroupeError('SCRIPT_ERROR', 'The source is nested too deeply', { line: 1, column: 1 });
  }

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
        // The second pair of parentheses is for a sequence: its own are not part of its node.
        edits.push({ at: node.argument.start, remove: 0, insert: `${STEP_NAME}.thrown((` });
        edits.push({ at: node.argument.end, remove: 0, insert: '))' });
        break;
      default:
        break;
    }
    for (const child of syntaxChildren(node)) visit(child, inside);
  }
}
