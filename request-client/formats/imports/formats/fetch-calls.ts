import type { CallExpression, Expression, Node, ObjectExpression } from 'acorn';
import { SyntaxParser } from '#troupe/base/syntax-parser.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { type JsonObject, textOf } from '../../../engine/collection/json-access.js';
import { type ImportedPair, languageOf, rawBody, requestItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';

/**
 * The `fetch(...)` calls of a JavaScript text, as browsers copy them and as documentation writes them. The text is
 * read, never run: a name or an expression in place of a value becomes a variable of the collection.
 */
export function readFetchCalls(text: string, findings: Findings): ImportedContent {
  const reader = new FetchReader(findings);
  const items = callsIn(parsed(text)).map((call) => reader.item(call));
  return { items, variables: [...reader.variables].map((name) => ({ name, value: '' })), environments: [] };
}

function parsed(text: string): Node {
  try {
    return SyntaxParser.parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowAwaitOutsideFunction: true,
      allowReturnOutsideFunction: true,
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TroupeError('INVALID_REQUEST', `The fetch call is not valid JavaScript: ${why}`, undefined, { cause });
  }
}

/** Calls of `fetch`, `window.fetch` and the like, in the order of the text. */
function callsIn(root: Node): CallExpression[] {
  const found: CallExpression[] = [];
  const stack: unknown[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (isCall(node) && calleeOf(node) === 'fetch') found.push(node);
    else stack.push(...Object.values(node).reverse());
  }
  return found;
}

function isCall(node: object): node is CallExpression {
  return 'type' in node && node.type === 'CallExpression';
}

function calleeOf({ callee }: CallExpression): string {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : '';
}

/** Options that describe a browser's page, not the request. */
const PAGE_OPTIONS = new Set([
  'referrer',
  'referrerPolicy',
  'mode',
  'cache',
  'integrity',
  'keepalive',
  'signal',
  'priority',
  'duplex',
]);

class FetchReader {
  readonly variables = new Set<string>();
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  item(call: CallExpression): JsonObject {
    const [target, init] = call.arguments;
    const url = target === undefined || target.type === 'SpreadElement' ? '' : this.#text(target);
    const options = init?.type === 'ObjectExpression' ? this.#members(init) : new Map<string, Expression>();
    if (init !== undefined && init.type !== 'ObjectExpression')
      this.#findings.warn(
        url,
        'init',
        'The options of fetch are not an object in the text; only the address is imported',
      );
    const methodNode = options.get('method');
    const method = methodNode === undefined ? 'GET' : this.#text(methodNode).toUpperCase();
    const headers = this.#headers(options.get('headers'), url);
    const referrer = options.get('referrer');
    if (referrer !== undefined && !headers.some(({ name }) => /^referer$/i.test(name))) {
      const value = this.#text(referrer);
      if (/^https?:/.test(value)) headers.push({ name: 'Referer', value, enabled: true });
    }
    for (const [name, node] of options) {
      if (['method', 'headers', 'body', 'redirect'].includes(name) || PAGE_OPTIONS.has(name)) continue;
      if (name === 'credentials') {
        if (this.#text(node) !== 'omit')
          this.#findings.note(
            url,
            name,
            'Cookies of the browser are not part of the text: add a Cookie header if needed',
          );
      } else this.#findings.warn(url, name, `The option '${name}' of fetch is not imported`);
    }
    const type = headers.find(({ name }) => /^content-type$/i.test(name))?.value ?? '';
    const body = this.#body(options.get('body'), type, url);
    const redirect = options.get('redirect');
    const follows = redirect === undefined || this.#text(redirect) === 'follow';
    const path = URL.canParse(url) ? new URL(url).pathname : url;
    return requestItem({
      name: `${method} ${path}`,
      method,
      url,
      headers,
      body,
      behaviour: follows ? {} : { followRedirects: false },
    });
  }

  #headers(node: Expression | undefined, place: string): ImportedPair[] {
    if (node === undefined) return [];
    const inner = node.type === 'NewExpression' ? node.arguments[0] : node;
    if (inner?.type === 'ObjectExpression') {
      return [...this.#members(inner)].map(([name, value]) => ({ name, value: this.#text(value), enabled: true }));
    }
    if (inner?.type === 'ArrayExpression') {
      return inner.elements.flatMap((pair) => {
        if (pair?.type !== 'ArrayExpression') return [];
        const [name, value] = pair.elements;
        if (name == null || value == null || name.type === 'SpreadElement' || value.type === 'SpreadElement') return [];
        return [{ name: this.#text(name), value: this.#text(value), enabled: true }];
      });
    }
    this.#findings.warn(place, 'headers', 'The headers are not in the text and are not imported');
    return [];
  }

  #body(node: Expression | undefined, type: string, place: string): JsonObject | null {
    if (node === undefined || (node.type === 'Literal' && node.value === null)) return null;
    if (node.type === 'CallExpression' && calleeOf(node) === 'stringify') {
      const [value] = node.arguments;
      if (value !== undefined && value.type !== 'SpreadElement')
        return rawBody(JSON.stringify(this.#value(value), null, 2), type === '' ? 'text' : languageOf(type));
    }
    if (node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'URLSearchParams') {
      const [value] = node.arguments;
      if (value?.type === 'ObjectExpression') {
        const urlencoded = [...this.#members(value)].map(([key, one]) => ({ key, value: this.#text(one) }));
        return { mode: 'urlencoded', urlencoded };
      }
      if (value !== undefined && value.type !== 'SpreadElement')
        return { mode: 'urlencoded', urlencoded: this.#text(value) };
    }
    if (node.type === 'NewExpression') {
      this.#findings.warn(place, 'body', 'The body is an object that is not in the text and is not imported');
      return null;
    }
    return rawBody(this.#text(node), languageOf(type));
  }

  #members(object: ObjectExpression): Map<string, Expression> {
    const made = new Map<string, Expression>();
    for (const property of object.properties) {
      if (property.type === 'SpreadElement') {
        this.#findings.warn('', '...', 'Spread properties (...) are not in the text and are not imported');
        continue;
      }
      const { key } = property;
      const name =
        key.type === 'Identifier' && !property.computed ? key.name : key.type === 'Literal' ? String(key.value) : null;
      if (name !== null) made.set(name, property.value);
    }
    return made;
  }

  /** A value as text; what is not in the text becomes a variable. */
  #text(node: Expression): string {
    const value = this.#value(node);
    return textOf(value) ?? JSON.stringify(value) ?? '';
  }

  #value(node: Expression): unknown {
    switch (node.type) {
      case 'Literal':
        return node.value;
      case 'TemplateLiteral':
        return node.quasis
          .map(({ value }, index) => {
            const between = node.expressions[index];
            return `${value.cooked ?? value.raw}${between === undefined ? '' : this.#text(between)}`;
          })
          .join('');
      case 'BinaryExpression':
        if (node.operator === '+' && node.left.type !== 'PrivateIdentifier')
          return `${this.#text(node.left)}${this.#text(node.right)}`;
        return this.#variable(node);
      case 'UnaryExpression': {
        const value = this.#value(node.argument);
        return node.operator === '-' && typeof value === 'number' ? -value : this.#variable(node);
      }
      case 'ArrayExpression':
        return node.elements.map((one) => (one === null || one.type === 'SpreadElement' ? null : this.#value(one)));
      case 'ObjectExpression':
        return Object.fromEntries([...this.#members(node)].map(([name, one]) => [name, this.#value(one)]));
      default:
        return this.#variable(node);
    }
  }

  #variable(node: Expression): string {
    const names: string[] = [];
    let at: Node = node;
    while (at.type === 'MemberExpression') {
      const { object, property } = at as Extract<Expression, { type: 'MemberExpression' }>;
      if (property.type === 'Identifier') names.unshift(property.name);
      at = object;
    }
    if (at.type === 'Identifier') names.unshift((at as Extract<Expression, { type: 'Identifier' }>).name);
    const name = names.at(-1) ?? 'value';
    this.variables.add(name);
    this.#findings.note(
      '',
      name,
      `'${names.join('.') || 'An expression'}' has no value in the text and is the variable {{${name}}}`,
    );
    return `{{${name}}}`;
  }
}
