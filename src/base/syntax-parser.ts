import { Parser } from 'acorn';

/** Of a source, in units of its costliest syntax: about a kilobyte of stack, which is a megabyte where it is smallest. */
const MAX_DEPTH = 600;

/** The parser's methods that call each other for what is nested, and what a call costs. */
const COSTS = {
  parseStatement: 1,
  parseMaybeAssign: 1,
  parseMaybeUnary: 1,
  parseExprAtom: 1,
  parseBindingAtom: 1,
  parseExprOp: 0.5,
  regexp_disjunction: 1,
  regexp_eatNestedClass: 1,
};
/** A link of a chain, as in `a.b()[c]`: it costs stack in who walks the tree. */
const LINK_COST = 0.5;

/**
 * A parser of JavaScript that refuses a source that is nested too deeply, as a syntax error, long before its stack is
 * used up: V8 ends the process if it has to compile a regular expression when there is hardly any stack left.
 */
export class SyntaxParser extends Parser {
  #depth = 0;

  static {
    for (const [name, cost] of Object.entries(COSTS)) {
      const parse = methodOf(name);
      Reflect.set(SyntaxParser.prototype, name, function (this: SyntaxParser, ...args: unknown[]): unknown {
        const before = this.#depth;
        this.#deepen(cost);
        const node: unknown = Reflect.apply(parse, this, args);
        this.#depth = before;
        return node;
      });
    }
    const parseChain = methodOf('parseSubscripts');
    Reflect.set(SyntaxParser.prototype, 'parseSubscripts', function (this: SyntaxParser, ...args: unknown[]): unknown {
      const before = this.#depth;
      const node: unknown = Reflect.apply(parseChain, this, args);
      this.#depth = before;
      return node;
    });
    const parseLink = methodOf('parseSubscript');
    Reflect.set(SyntaxParser.prototype, 'parseSubscript', function (this: SyntaxParser, ...args: unknown[]): unknown {
      this.#deepen(LINK_COST);
      return Reflect.apply(parseLink, this, args);
    });
  }

  #deepen(cost: number): void {
    this.#depth += cost;
    if (this.#depth > MAX_DEPTH) Reflect.apply(methodOf('raise'), this, [Reflect.get(this, 'start'), TOO_DEEP]);
  }
}

const TOO_DEEP = 'The source is nested too deeply';

function methodOf(name: string): (...args: unknown[]) => unknown {
  const method: unknown = Reflect.get(Parser.prototype, name);
  if (!isMethod(method)) throw new Error(`The parser has no method ${name}`);
  return method;
}

function isMethod(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function';
}
