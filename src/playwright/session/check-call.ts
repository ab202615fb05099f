import type { ClassName } from '../../agent-js/playwright-api/classes.js';
import {
  ASYMMETRIC,
  LOCATOR_MATCHERS,
  NOT_MATCHERS,
  PAGE_MATCHERS,
  VALUE_MATCHERS,
} from '../../agent-js/playwright-api/matchers.js';
import { OPTIONS } from '../../agent-js/playwright-api/options.js';
import {
  isClassName,
  memberOf,
  type Parameter,
  type Signature,
  signatureIn,
  signatureOf,
  whyNotOffered,
} from '../../agent-js/playwright-api/signature.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Chain, Link, Wire } from '../wire.js';

/** Calls in one chain. */
export const MAX_LINKS = 100;
/** Characters and values of one call's arguments. */
const MAX_SIZE = 1024 * 1024;
const MAX_DEPTH = 50;
const MAX_PATTERN = 2_000;
/** Names that mean something to the language. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** What browsers leave out of an address before they read its scheme: at its ends, and anywhere. */
const AROUND = /^[\0- ]+|[\0- ]+$/g;
const ANYWHERE = /[\t\n\r]/g;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** A host and its port without a scheme, which a browser refuses by itself. */
const HOST_WITH_PORT = /^(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}(?:[/?#]|$)/i;
/** Addresses that scripts may open; as agent.go. */
const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'about', 'data', 'blob']);

export interface CheckedCall {
  readonly chain: Chain;
  readonly of: ClassName;
  readonly method: string;
  readonly args: readonly Wire[];
  readonly signature: Signature;
}

/** A call as it came from the sandbox. @throws SCRIPT_ERROR for what is not in the table */
export function checkCall(rawChain: unknown, rawMethod: unknown, rawArgs: unknown): CheckedCall {
  const reader = new Reader();
  const { chain, of } = reader.chain(rawChain);
  const method = reader.name(rawMethod);
  const signature = signatureOf(of, method);
  if (signature === undefined || signature.result.kind === 'chain') throw refused(whyNotOffered(of, method));
  return { chain, of, method, args: reader.args(rawArgs, signature.parameters, `${of}.${method}`), signature };
}

/** An expectation as it came from the sandbox. @throws SCRIPT_ERROR for what is not in the table */
export function checkExpect(rawSubject: unknown, rawMatcher: unknown, rawArgs: unknown) {
  const reader = new Reader();
  const matcher = reader.name(rawMatcher);
  const subject = reader.value(rawSubject, 'unknown | Locator | Page', 'expect', 0);
  const of = Array.isArray(subject) && subject[0] === 'c' ? reader.chain([subject[1], subject[2]]).of : null;
  const [methods, table] =
    of === 'Locator'
      ? [LOCATOR_MATCHERS, 'expect(locator)']
      : of === 'Page'
        ? [PAGE_MATCHERS, 'expect(page)']
        : [VALUE_MATCHERS, 'expect(value)'];
  const signature = signatureIn(methods, table, matcher);
  if (signature === undefined) {
    const instead = Object.hasOwn(NOT_MATCHERS, matcher) ? `: ${NOT_MATCHERS[matcher]}` : '';
    throw refused(`${table}.${matcher} is not offered${instead || '; docs/playwright.md lists what is'}`);
  }
  if (of !== null && of !== 'Locator' && of !== 'Page') throw refused(`expect takes a locator, a page, or a value`);
  return { subject, matcher, args: reader.args(rawArgs, signature.parameters, `${table}.${matcher}`) };
}

/** Reads one message: what is in it is counted together. */
class Reader {
  #size = 0;

  chain(raw: unknown): { readonly chain: Chain; readonly of: ClassName } {
    const [root, rawLinks] = Array.isArray(raw) ? raw : [];
    if (typeof root !== 'string' || !Array.isArray(rawLinks)) throw refused('This is not a chain of calls');
    let of = classOfRoot(root);
    const links: Link[] = [];
    if (rawLinks.length > MAX_LINKS) throw refused(`A chain has at most ${MAX_LINKS} calls`);
    for (const rawLink of rawLinks) {
      const [rawName, rawArgs] = Array.isArray(rawLink) ? rawLink : [];
      const name = this.name(rawName);
      if (rawArgs === null) {
        const member = memberOf(of, name);
        if (member === undefined) throw refused(whyNotOffered(of, name));
        links.push([name, null]);
        of = member;
        continue;
      }
      const signature = signatureOf(of, name);
      if (signature?.result.kind !== 'chain') throw refused(whyNotOffered(of, name));
      links.push([name, this.args(rawArgs, signature.parameters, `${of}.${name}`)]);
      of = signature.result.of;
    }
    return { chain: { root, links }, of };
  }

  name(raw: unknown): string {
    if (typeof raw !== 'string' || FORBIDDEN_NAMES.has(raw) || raw.length > 100)
      throw refused('This name is not offered');
    return raw;
  }

  args(raw: unknown, parameters: readonly Parameter[], where: string): Wire[] {
    if (!Array.isArray(raw)) throw refused('A call has no arguments');
    if (raw.length > parameters.length) throw refused(`${where} takes at most ${parameters.length} arguments`);
    return raw.map((item, index) => {
      const parameter = parameters[index];
      if (parameter === undefined) throw refused(`${where} takes fewer arguments`);
      const value = this.value(item, parameter.type, where, 0);
      if (parameter.name === 'url') checkUrl(value, where);
      return value;
    });
  }

  /** @param type the parameter's: it decides about functions, locators and the names of options */
  value(raw: unknown, type: string, where: string, depth: number): Wire {
    this.#count(1);
    if (depth > MAX_DEPTH) throw refused(`An argument of ${where} is nested too deeply, or contains itself`);
    if (raw === null || typeof raw === 'boolean') return raw;
    if (typeof raw === 'number') return raw;
    if (typeof raw === 'string') return this.#text(raw);
    if (!Array.isArray(raw)) throw refused(`An argument of ${where} is not data`);
    const [kind, first, second, third] = raw;
    switch (kind) {
      case 'u':
        return ['u'];
      case 'n':
      case 'b':
      case 'd':
        return [kind, this.#text(first)];
      case 'r': {
        if (String(first).length > MAX_PATTERN)
          throw refused(`A regular expression has at most ${MAX_PATTERN} characters`);
        return ['r', this.#text(first), this.#text(second)];
      }
      case 'f':
        if (!type.includes('PageFunction')) throw refused(`${where} takes no function: what it does must be data`);
        return ['f', this.#text(first)];
      case 'c': {
        const { chain, of } = this.chain([first, second]);
        if (!new RegExp(`\\b${of}\\b`).test(type)) throw refused(`${where} takes no ${of} here`);
        return ['c', chain.root, chain.links];
      }
      case 'a':
        if (!Array.isArray(first)) break;
        return ['a', first.map((item) => this.value(item, type, where, depth + 1))];
      case 'o':
        if (!Array.isArray(first)) break;
        return ['o', this.#members(first, type, where, depth)];
      case 'x': {
        const name = ASYMMETRIC.find((known) => known === first);
        if (name === undefined || !Array.isArray(second)) break;
        return ['x', name, second.map((item) => this.value(item, type, where, depth + 1)), third === true];
      }
      default:
    }
    throw refused(`An argument of ${where} is not data`);
  }

  #members(raw: readonly unknown[], type: string, where: string, depth: number): [string, Wire][] {
    const groups = groupsIn(type);
    const members: [string, Wire][] = raw.map((pair) => {
      const [rawName, rawValue] = Array.isArray(pair) ? pair : [];
      const name = this.#text(rawName);
      if (FORBIDDEN_NAMES.has(name))
        throw refused(`An argument of ${where} has a member ${name}, which is not offered`);
      const of = groups.map((group) => group[name]).find((known) => known !== undefined);
      if (groups.length > 0 && of === undefined) {
        const known = groups.flatMap((group) => Object.keys(group)).sort();
        throw refused(`${where} has no option ${JSON.stringify(name)}; it has ${known.join(', ')}`);
      }
      return [name, this.value(rawValue, of ?? type, where, depth + 1)];
    });
    return members;
  }

  #text(raw: unknown): string {
    if (typeof raw !== 'string') throw refused('An argument is not data');
    this.#count(raw.length);
    return raw;
  }

  #count(size: number): void {
    this.#size += size;
    if (this.#size > MAX_SIZE) throw refused(`The arguments of a call have at most ${MAX_SIZE} characters together`);
  }
}

type OptionGroup = { readonly [option: string]: string };

/** The groups of options that a type names. */
function groupsIn(type: string): readonly OptionGroup[] {
  const groups: { readonly [name: string]: OptionGroup } = OPTIONS;
  return (type.match(/\b[A-Z]\w+\b/g) ?? []).flatMap((name) => {
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
    return group === undefined ? [] : [group];
  });
}

function classOfRoot(root: string): ClassName {
  if (root === 'page') return 'Page';
  if (root === 'context') return 'BrowserContext';
  const [name = '', id = ''] = root.split('#');
  if (!isClassName(name) || !/^\d{1,10}$/.test(id)) throw refused('This is not a chain of calls');
  return name;
}

/** Only what agent.go opens: `file:` reaches what lies on the machine. */
function checkUrl(value: Wire, where: string): void {
  if (typeof value !== 'string') return;
  const url = value.replace(AROUND, '').replace(ANYWHERE, '');
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined || SCHEMES.has(scheme) || HOST_WITH_PORT.test(url)) return;
  throw refused(`${where} opens http, https, about and data only, not ${scheme}:`);
}

function refused(message: string): TroupeError {
  return new TroupeError('SCRIPT_ERROR', message);
}
