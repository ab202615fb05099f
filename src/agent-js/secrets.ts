import { encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostModule } from '../script/host-module.js';
import { type Spellings, spellingsOf } from './secret-spellings.js';

/** `{{name}}`, as flows and models write a secret. */
const PLACE = /\{\{\s*([\w.-]+)\s*\}\}/g;

/** Where a value is put in, and how it is written there. */
interface Place {
  /** The argument's index. */
  readonly index: number;
  readonly write: (value: string) => string;
}

const plain = (value: string): string => value;
const always = (place: Place) => (): Place => place;

/** Methods of Playwright that type, choose or open what they are given. */
const PLAYWRIGHT_INPUTS: ReadonlySet<unknown> = new Set([
  'fill',
  'insertText',
  'pressSequentially',
  'selectOption',
  'type',
]);

/** Arguments of a call of Playwright: the chain, the method, the method's own arguments. */
function playwrightPlace([, method]: readonly unknown[]): Place | undefined {
  if (method === 'goto') return { index: 2, write: encodeURIComponent };
  return PLAYWRIGHT_INPUTS.has(method) ? { index: 2, write: plain } : undefined;
}

/** Arguments of a call on a second browser: its name, the method, the method's own arguments. */
function secondPlace([, method]: readonly unknown[]): Place | undefined {
  if (method === 'act') return { index: 4, write: plain };
  return method === 'go' ? { index: 2, write: encodeURIComponent } : undefined;
}

/** What is typed or chosen, addresses, and variables of requests. */
const SLOTS: { readonly [target: string]: (args: readonly unknown[]) => Place | undefined } = {
  'agent.act': always({ index: 2, write: plain }),
  'agent.go': always({ index: 0, write: encodeURIComponent }),
  'agent.in': secondPlace,
  'playwright.call': playwrightPlace,
  'requests.run': always({ index: 1, write: plain }),
};

/** One secret as it may be found, and what stands for it. */
interface Hidden extends Spellings {
  readonly shown: string;
}

/**
 * The secrets of a session. Scripts and models write `{{name}}`; the value is put in on the way to the page, in what
 * `agent.act` and Playwright's calls type, choose and open, and taken out of everything that comes back: answers, errors, events. So
 * neither the sandbox nor a model ever holds one.
 *
 * A value is known by its text, and in what {@link spellingsOf} makes of it.
 */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  /** The longest first: one secret may be a part of another. */
  readonly #hidden: readonly Hidden[];

  constructor(values: { readonly [name: string]: string }) {
    this.#values = new Map(Object.entries(values));
    this.#hidden = [...this.#values]
      .sort(([, one], [, other]) => other.length - one.length)
      .map(([name, value]) => ({ ...spellingsOf(value), shown: `{{${name}}}` }));
  }

  /** A module through which values go in and do not come out. */
  wrap(module: HostModule): HostModule {
    if (this.#values.size === 0) return module;
    const calls = Object.entries(module.calls).map(([method, call]): [string, HostCall] => {
      const slot = SLOTS[`${module.name}.${method}`];
      return [method, (args, context) => this.hide(() => call(this.#put(args, slot?.(args)), context))];
    });
    return { ...module, calls: Object.fromEntries(calls) };
  }

  /** The work's result, or its error, without the values. */
  hide<T>(work: () => Promise<T>): Promise<T> {
    return this.#values.size === 0 ? work() : this.#without(work, (value) => this.redact(value));
  }

  /** The same for work whose result is JSON text: it is that afterwards, too. */
  hideJson(work: () => Promise<string>): Promise<string> {
    return this.#values.size === 0 ? work() : this.#without(work, (text) => this.#redactedJson(text));
  }

  async #without<T>(work: () => Promise<T>, clean: (value: T) => T): Promise<T> {
    try {
      return clean(await work());
    } catch (error) {
      const { code, error: text, details } = this.redact(encodeError(error));
      throw new TroupeError(code, text, details);
    }
  }

  /** Plain data with `{{name}}` for each value, as a copy; itself where it has none. */
  redact<T>(value: T): T {
    // The shape stays: only texts, and numbers that are a secret, become other texts.
    return this.#isIn(value) ? (this.#redacted(value) as T) : value;
  }

  #redactedJson(text: string): string {
    const value: unknown = JSON.parse(text);
    return this.#isIn(value) ? JSON.stringify(this.#redacted(value)) : text;
  }

  /** Looked for in all texts at once: most data has no secret, and is neither searched piece by piece nor copied. */
  #isIn(value: unknown): boolean {
    if (this.#values.size === 0) return false;
    const texts: string[] = [];
    addTexts(value, texts);
    const text = texts.join('\0');
    return this.#hidden.some((hidden) => holds(hidden, text));
  }

  #put(args: readonly unknown[], slot: Place | undefined): readonly unknown[] {
    if (slot === undefined) return args;
    return args.map((arg, index) => (index === slot.index ? this.#filled(arg, slot) : arg));
  }

  #filled(value: unknown, slot: Place): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#filled(one, slot));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.#filled(member, slot)]));
    }
    if (typeof value !== 'string') return value;
    return value.replace(PLACE, (whole, name: string) => {
      const secret = this.#values.get(name);
      return secret === undefined ? whole : slot.write(secret);
    });
  }

  #redacted(value: unknown): unknown {
    if (typeof value === 'string') return this.#clean(value);
    if (typeof value === 'number')
      return this.#clean(String(value)) === String(value) ? value : this.#clean(String(value));
    if (Array.isArray(value)) return value.map((one) => this.#redacted(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.#clean(key), this.#redacted(member)]));
  }

  #clean(text: string): string {
    let clean = text;
    for (const { literalPattern, pattern, shown } of this.#hidden) {
      clean = clean.replace(literalPattern, () => shown);
      if (pattern !== null) clean = clean.replace(pattern, () => shown);
    }
    return clean;
  }
}

function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'number') texts.push(String(value));
  else if (Array.isArray(value)) for (const one of value) addTexts(one, texts);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      texts.push(key);
      addTexts(member, texts);
    }
  }
}

function holds({ literals, pattern }: Spellings, text: string): boolean {
  // A global pattern remembers where it was, except in search().
  return literals.some((literal) => text.includes(literal)) || (pattern !== null && text.search(pattern) !== -1);
}
