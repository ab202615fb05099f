import { encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostModule } from '../script/host-module.js';

/** `{{name}}`, as flows and models write a secret. */
const PLACE = /\{\{\s*([\w.-]+)\s*\}\}/g;

/** Where a value is put in, and how it is written there. */
interface Slot {
  /** The argument's index. */
  readonly index: number;
  readonly write: (value: string) => string;
}

/** What is typed or chosen, addresses, and variables of requests. */
const SLOTS: { readonly [target: string]: Slot } = {
  'agent.act': { index: 2, write: (value) => value },
  'agent.go': { index: 0, write: encodeURIComponent },
  'requests.run': { index: 1, write: (value) => value },
};

/** One spelling of a secret, and what stands for it. */
interface Spelling {
  readonly text: string;
  readonly shown: string;
}

/**
 * The secrets of a session. Scripts and models write `{{name}}`; the value is put in on the way to the page, in what
 * `agent.act` types and `agent.go` opens, and taken out of everything that comes back: answers, errors, events. So
 * neither the sandbox nor a model ever holds one.
 *
 * A value is known by its text, also in the spellings that it has in an address, in JSON and in markup.
 */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  /** The longest first: one secret may be a part of another. */
  readonly #spellings: readonly Spelling[];

  constructor(values: { readonly [name: string]: string }) {
    this.#values = new Map(Object.entries(values));
    const spellings = [...this.#values].flatMap(([name, value]) =>
      spellingsOf(value).map((text) => ({ text, shown: `{{${name}}}` })),
    );
    this.#spellings = spellings.sort((one, other) => other.text.length - one.text.length);
  }

  /** A module through which values go in and do not come out. */
  wrap(module: HostModule): HostModule {
    if (this.#values.size === 0) return module;
    const calls = Object.entries(module.calls).map(([method, call]): [string, HostCall] => {
      const slot = SLOTS[`${module.name}.${method}`];
      return [method, (args, context) => this.hide(() => call(this.#put(args, slot), context))];
    });
    return { ...module, calls: Object.fromEntries(calls) };
  }

  /** The work's result, or its error, without the values. */
  hide<T>(work: () => Promise<T>): Promise<T> {
    return this.#values.size === 0 ? work() : this.#hidden(work);
  }

  async #hidden<T>(work: () => Promise<T>): Promise<T> {
    try {
      return this.redact(await work());
    } catch (error) {
      const { code, error: text, details } = this.redact(encodeError(error));
      throw new TroupeError(code, text, details);
    }
  }

  /** A copy of plain data with `{{name}}` for each value; the same where there are no secrets. */
  redact<T>(value: T): T {
    // The shape stays: only texts, and numbers that are a secret, become other texts.
    return this.#values.size === 0 ? value : (this.#redacted(value) as T);
  }

  #put(args: readonly unknown[], slot: Slot | undefined): readonly unknown[] {
    if (slot === undefined) return args;
    return args.map((arg, index) => (index === slot.index ? this.#filled(arg, slot) : arg));
  }

  #filled(value: unknown, slot: Slot): unknown {
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
    for (const { text: secret, shown } of this.#spellings) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, shown);
    }
    return clean;
  }
}

function spellingsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const component = encodeURIComponent(value);
  const form = new URLSearchParams({ v: value }).toString().slice(2);
  const markup = value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  const folded = value.replace(/\s+/g, ' ').trim();
  // An address escapes some more once it has been one.
  const address = new URL(`http://a/?${component}`).search.slice(1);
  return [...new Set([value, json, component, address, form, markup, folded])].filter((text) => text !== '');
}
