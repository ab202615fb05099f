import type { SandboxTable } from '../../agent-js/playwright-api/sandbox-table.js';
import type { Engine, Host } from '../../script/prelude/engine.js';
import { append, freeze, invoke, isObject, words } from '../../script/prelude/primordials.js';
import type { Link, Reply } from '../wire.js';
import { define, defineGetter } from './define.js';
import { encodeAll, type Standing, standings } from './encode.js';
import { expectOf } from './expect.js';
import { libraryOf } from './library.js';

/** The host refuses longer ones; a script that builds one in a loop is stopped here. */
const MAX_LINKS = 100;

/** Defines `page`, `context` and `expect`, and what pasted Playwright code requires; nothing is made before it is used. */
export function install(host: Host, engine: Engine): void {
  let table: SandboxTable | null = null;
  let prototypes: { readonly name: string; readonly value: object }[] | null = null;

  function tableOf(): SandboxTable {
    // The service wrote it.
    table ??= host('table') as SandboxTable;
    return table;
  }

  function prototypeOf(name: string): object {
    prototypes ??= prototypesOf(tableOf());
    for (let i = 0; i < prototypes.length; i += 1) {
      const prototype = prototypes[i];
      if (prototype?.name === name) return prototype.value;
    }
    return engine.fail('INTERNAL', words`There is no class ${name}`);
  }

  function make(standing: Standing): object {
    const object = freeze({ __proto__: prototypeOf(standing.of) });
    standings.set(object, standing);
    return object;
  }

  function standingOf(self: unknown, method: string): Standing {
    const standing = isObject(self) ? standings.get(self) : undefined;
    return standing ?? engine.fail('SCRIPT_ERROR', words`${method} was called on something else than its object`);
  }

  function follow(standing: Standing, link: Link, of: string): object {
    const links: Link[] = [];
    for (let i = 0; i < standing.links.length; i += 1) {
      const before = standing.links[i];
      if (before !== undefined) append(links, before);
    }
    if (links.length >= MAX_LINKS) engine.fail('SCRIPT_ERROR', words`A chain has at most ${MAX_LINKS} calls`);
    append(links, link);
    return make({ root: standing.root, links, of });
  }

  const nothing = freeze(resolved(undefined));

  /** Callbacks of `page.once('dialog', ...)`, which Playwright's recorder prints. */
  let listeners: { readonly listener: unknown; readonly once: boolean }[] = [];

  function listen(event: unknown, listener: unknown, once: boolean, why: string): void {
    if (event !== 'dialog' || typeof listener !== 'function') engine.fail('SCRIPT_ERROR', why);
    append(listeners, { listener, once });
  }

  function nextListener(): unknown {
    const first = listeners[0];
    if (first === undefined) return null;
    if (first.once) {
      const rest: typeof listeners = [];
      for (let i = 1; i < listeners.length; i += 1) {
        const next = listeners[i];
        if (next !== undefined) append(rest, next);
      }
      listeners = rest;
    }
    return first.listener;
  }

  function replyValue(reply: Reply, standing: Standing): unknown {
    switch (reply.kind) {
      case 'object':
        return reply.id === null ? null : make({ root: words`${reply.of}#${reply.id}`, links: [], of: reply.of });
      case 'objects': {
        const objects: object[] = [];
        for (let i = 0; i < reply.ids.length; i += 1) {
          append(objects, make({ root: words`${reply.of}#${reply.ids[i]}`, links: [], of: reply.of }));
        }
        return objects;
      }
      case 'locators': {
        const locators: object[] = [];
        for (let i = 0; i < reply.count; i += 1) append(locators, follow(standing, ['nth', [i]], 'Locator'));
        return locators;
      }
      case 'later':
        return awaited(reply.ticket, standing);
      case 'dialog': {
        const listener = nextListener();
        // Without one the dialog stays open, for waitForEvent or agent.
        if (listener === null) return undefined;
        const dialog = make({ root: words`Dialog#${reply.id}`, links: [], of: 'Dialog' });
        engine.settle(invoke(listener, undefined, dialog));
        // What the call has come to, now that the page goes on.
        return replyValue(host('settle', reply.ticket) as Reply, standing);
      }
      default:
        // Pasted code calls then and catch on what returns nothing.
        return reply.value === undefined ? nothing : reply.value;
    }
  }

  /** A wait that was begun: what is awaited is read then. */
  function awaited(ticket: number, standing: Standing): object {
    let result: { readonly value: unknown } | null = null;
    const value = (): unknown => {
      result ??= { value: replyValue(host('settle', ticket) as Reply, standing) };
      return result.value;
    };
    const then = (resolve: unknown, reject: unknown): unknown => thenOf(value)(resolve, reject);
    return freeze({
      then,
      catch: (reject: unknown) => then(undefined, reject),
    });
  }

  function prototypesOf({ classes }: SandboxTable): { readonly name: string; readonly value: object }[] {
    const all: { readonly name: string; readonly value: object }[] = [];
    for (let c = 0; c < classes.length; c += 1) {
      const known = classes[c];
      if (known === undefined) continue;
      const prototype = { __proto__: null };
      const { methods, members, refused } = known;
      for (let i = 0; i < methods.length; i += 1) {
        const method = methods[i];
        if (method !== undefined) define(prototype, method[0], methodOf(method[0], method[1]));
      }
      for (let i = 0; i < members.length; i += 1) {
        const member = members[i];
        if (member !== undefined) defineMember(prototype, member[0], member[1]);
      }
      for (let i = 0; i < refused.length; i += 1) {
        const method = refused[i];
        if (method === undefined) continue;
        const name = method[0];
        if (name === 'on' || name === 'once') {
          define(prototype, name, (event: unknown, listener: unknown) =>
            listen(event, listener, name === 'once', method[1]),
          );
        } else define(prototype, name, () => engine.fail('SCRIPT_ERROR', method[1]));
      }
      append(all, { name: known.name, value: freeze(withKnownMembers(known.name, prototype)) });
    }
    return all;
  }

  function methodOf(name: string, next: string | null): (...args: unknown[]) => unknown {
    return function (this: unknown, ...args: unknown[]): unknown {
      const standing = standingOf(this, name);
      const given = encodeAll(withoutEnd(args), engine);
      if (next !== null) return follow(standing, [name, given], next);
      const reply = host('call', [standing.root, standing.links], name, given) as Reply;
      return replyValue(reply, standing);
    };
  }

  function defineMember(prototype: object, name: string, of: string): void {
    defineGetter(prototype, name, function (this: unknown): object {
      return follow(standingOf(this, name), [name, null], of);
    });
  }

  const page = (): object => make({ root: 'page', links: [], of: 'Page' });
  const context = (): object => make({ root: 'context', links: [], of: 'BrowserContext' });
  let expectation: object | null = null;
  const expect = (): object => {
    expectation ??= expectOf(host, engine, tableOf());
    return expectation;
  };
  engine.defineLazy('page', page);
  engine.defineLazy('context', context);
  engine.defineLazy('expect', expect);
  engine.defineLazy('require', () => libraryOf({ host, engine, page, context, expect }));
}

/** Playwright's own `undefined` at the end means that nothing was given. */
function withoutEnd(args: readonly unknown[]): readonly unknown[] {
  let count = args.length;
  while (count > 0 && args[count - 1] === undefined) count -= 1;
  const given: unknown[] = [];
  for (let i = 0; i < count; i += 1) append(given, args[i]);
  return given;
}

function resolved(value: unknown): Promise<unknown> {
  return new PromiseClass((resolve) => resolve(value));
}

const PromiseClass = Promise;
const { apply, get } = Reflect;
const promiseThen = Promise.prototype.then;

/** A promise's `then` for a value that is made when it is asked for. */
function thenOf(value: () => unknown): (resolve: unknown, reject: unknown) => unknown {
  return (resolve, reject) => apply(promiseThen, new PromiseClass((settle) => settle(value())), [resolve, reject]);
}

/** A script that asks for a member that there is not learns it by name. */
function withKnownMembers(name: string, members: object): object {
  return new ProxyClass(members, {
    get(target, key, self) {
      if (key in target || typeof key === 'symbol' || key === 'then' || key === 'toJSON') return get(target, key, self);
      throw new TypeErrorClass(words`${name} has no ${key} in scripts; docs/playwright.md lists what it has`);
    },
  });
}
const TypeErrorClass = TypeError;
const ProxyClass = Proxy;
