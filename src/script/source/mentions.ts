import type { AnyNode, Program } from 'acorn';
import { syntaxChildren } from './syntax-children.js';

/**
 * The names of these functions of a file's top level that the file mentions, other than where it declares them and inside
 * of the function itself. Variables of the same name in inner scopes are others.
 */
export function mentionedNames(program: Program, functions: ReadonlyMap<string, AnyNode>): ReadonlySet<string> {
  const found = new Set<string>();
  /** How many scopes, and functions of that name, hide a name here. */
  const hidden = new Map<string, number>();
  const nameOf = new Map([...functions].map(([name, node]) => [node, name]));
  for (const statement of program.body) visit(statement, null);
  return found;

  function visit(node: AnyNode, parent: AnyNode | null): void {
    if (node.type === 'Identifier') {
      const { name } = node;
      if (functions.has(name) && (hidden.get(name) ?? 0) === 0 && !isName(node, parent)) found.add(name);
      return;
    }
    const own = nameOf.get(node);
    const names = [...scopeNames(node), ...(own === undefined ? [] : [own])].filter((name) => functions.has(name));
    for (const name of names) hidden.set(name, (hidden.get(name) ?? 0) + 1);
    const bound = boundPatterns(node);
    for (const child of syntaxChildren(node)) {
      if (bound.includes(child)) visitPattern(child);
      else visit(child, node);
    }
    for (const name of names) hidden.set(name, (hidden.get(name) ?? 0) - 1);
  }

  /** In a declaration only default values and computed keys are mentions. */
  function visitPattern(pattern: AnyNode): void {
    switch (pattern.type) {
      case 'Identifier':
        return;
      case 'AssignmentPattern':
        visitPattern(pattern.left);
        visit(pattern.right, pattern);
        return;
      case 'Property':
        if (pattern.computed) visit(pattern.key, pattern);
        visitPattern(pattern.value);
        return;
      default:
        for (const child of syntaxChildren(pattern)) visitPattern(child);
    }
  }
}

/** A word that is no variable: a member's name, a key, a label. */
export function isName(node: AnyNode, parent: AnyNode | null): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.property === node && !parent.computed;
    case 'Property':
      return parent.key === node && !parent.computed && !parent.shorthand;
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return parent.key === node && !parent.computed;
    case 'ExportSpecifier':
      return parent.local !== node;
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return true;
    default:
      return false;
  }
}

/** The names that a pattern of a declaration binds. */
export function patternNames(pattern: AnyNode | null | undefined): readonly string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => patternNames(one.type === 'Property' ? one.value : one));
    case 'ArrayPattern':
      return pattern.elements.flatMap(patternNames);
    case 'AssignmentPattern':
      return patternNames(pattern.left);
    case 'RestElement':
      return patternNames(pattern.argument);
    default:
      return [];
  }
}

/** The direct children that declare names. */
function boundPatterns(node: AnyNode): readonly (AnyNode | null | undefined)[] {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'ClassExpression':
      return [node.id];
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [node.id, ...node.params];
    case 'CatchClause':
      return [node.param];
    default:
      return [];
  }
}

/** The names of the scope that a node opens. */
function scopeNames(node: AnyNode): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression': {
      const own = node.type === 'FunctionExpression' ? patternNames(node.id) : [];
      return [...own, ...node.params.flatMap(patternNames), ...variableNames(node.body), ...scopeNames(node.body)];
    }
    case 'ClassExpression':
      return patternNames(node.id);
    case 'BlockStatement':
    case 'StaticBlock':
      return node.body.flatMap(lexicalNames);
    case 'SwitchStatement':
      return node.cases.flatMap(({ consequent }) => consequent.flatMap(lexicalNames));
    case 'ForStatement':
      return node.init == null ? [] : lexicalNames(node.init);
    case 'ForInStatement':
    case 'ForOfStatement':
      return lexicalNames(node.left);
    case 'CatchClause':
      return patternNames(node.param);
    default:
      return [];
  }
}

/** The names that a statement declares, other than with `var`. */
export function lexicalNames(node: AnyNode): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return patternNames(node.id);
    case 'VariableDeclaration':
      return node.kind === 'var' ? [] : node.declarations.flatMap(({ id }) => patternNames(id));
    default:
      return [];
  }
}

/** The names of `var`, at any depth of a function's body. */
function variableNames(node: AnyNode): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [];
    case 'VariableDeclaration':
      return node.kind === 'var' ? node.declarations.flatMap(({ id }) => patternNames(id)) : [];
    default:
      return syntaxChildren(node).flatMap(variableNames);
  }
}
