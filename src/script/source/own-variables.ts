import type { AnyNode, ContinueStatement } from 'acorn';
import type { SourceEdit } from './source-edits.js';
import { syntaxChildren } from './syntax-children.js';

interface Loop {
  readonly labels: readonly string[];
  /** What begins its next turn. */
  readonly continues: ContinueStatement[];
}

/**
 * Collects the edits by which closures keep the variable of their own turn of `for (let …;;)`. After a `continue` the engine
 * does not make that variable anew, so that the closures of two turns share it. So the body becomes a labelled block, which
 * `continue` leaves. These edits must be the last.
 */
export function keepOwnVariables(root: AnyNode, source: string, edits: SourceEdit[]): void {
  /** How many blocks end after the character before an offset. */
  const ends = new Map<number, number>();
  visit(root, [], []);
  for (const [end, blocks] of ends) {
    // Not at the end itself: what follows may begin there with an edit of its own.
    edits.push({ at: end - 1, remove: 1, insert: source.slice(end - 1, end) + '}'.repeat(blocks) });
  }

  function visit(node: AnyNode, around: readonly Loop[], labels: readonly string[]): void {
    switch (node.type) {
      case 'LabeledStatement':
        visit(node.body, around, [...labels, node.label.name]);
        return;
      case 'ContinueStatement': {
        const { label } = node;
        around.findLast((loop) => label == null || loop.labels.includes(label.name))?.continues.push(node);
        return;
      }
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement': {
        const loop: Loop = { labels, continues: [] };
        for (const child of syntaxChildren(node)) visit(child, child === node.body ? [...around, loop] : around, []);
        if (node.type === 'ForStatement' && hasOwnVariables(node.init)) leaveBlock(node.body, loop);
        return;
      }
      default: {
        const inside = /Function|^StaticBlock$/.test(node.type) ? [] : around;
        for (const child of syntaxChildren(node)) visit(child, inside, []);
      }
    }
  }

  function leaveBlock(body: AnyNode, { continues }: Loop): void {
    if (continues.length === 0 || !endsWithItself(body, source)) return;
    const label = `$troupe${body.start}`;
    edits.push({ at: body.start, remove: 0, insert: `${label}: {` });
    for (const one of continues) {
      const end = one.label?.end ?? one.start + 'continue'.length;
      edits.push({ at: one.start, remove: end - one.start, insert: `break ${label}` });
    }
    ends.set(body.end, (ends.get(body.end) ?? 0) + 1);
  }
}

function hasOwnVariables(init: AnyNode | null | undefined): boolean {
  return init?.type === 'VariableDeclaration' && init.kind !== 'var';
}

/** Whether the last character of a statement is its own, rather than that of an expression. */
function endsWithItself(statement: AnyNode, source: string): boolean {
  switch (statement.type) {
    case 'BlockStatement':
    case 'SwitchStatement':
    case 'TryStatement':
      return true;
    case 'IfStatement':
      return endsWithItself(statement.alternate ?? statement.consequent, source);
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'LabeledStatement':
    case 'WithStatement':
      return endsWithItself(statement.body, source);
    default:
      return source[statement.end - 1] === ';';
  }
}
