import type { Expression } from 'acorn';
import { SyntaxParser } from '../base/syntax-parser.js';

/**
 * The value of JavaScript source that is one literal: a string, number, true, false, null, or an array or plain object
 * of such. Undefined for anything else, including source that does not parse. Nothing is run.
 */
export function literalOf(text: string): unknown {
  try {
    const expression = SyntaxParser.parseExpressionAt(text, 0, { ecmaVersion: 'latest' });
    return text.slice(expression.end).trim() === '' ? literalValue(expression) : undefined;
  } catch {
    return undefined;
  }
}

function literalValue(node: Expression): unknown {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'object' && node.value !== null ? undefined : node.value;
    case 'TemplateLiteral':
      return node.expressions.length === 0 ? node.quasis[0]?.value.cooked : undefined;
    case 'UnaryExpression':
      return node.operator === '-' && node.argument.type === 'Literal' && typeof node.argument.value === 'number'
        ? -node.argument.value
        : undefined;
    case 'ArrayExpression':
      return node.elements.map((element) =>
        element === null || element.type === 'SpreadElement' ? undefined : literalValue(element),
      );
    case 'ObjectExpression': {
      const entries = node.properties.flatMap((property): [string, unknown][] => {
        if (property.type !== 'Property' || property.computed || property.kind !== 'init') return [];
        const { key, value } = property;
        const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : null;
        return name === null ? [] : [[name, literalValue(value)]];
      });
      return Object.fromEntries(entries);
    }
    default:
      return undefined;
  }
}
