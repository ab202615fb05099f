import {
  append,
  defineProperty,
  freeze,
  functionPrototype,
  getOwnPropertyDescriptor,
  isObject,
  objectPrototype,
  ownKeys,
  read,
  Seen,
  TypeErrorClass,
  words,
} from './primordials.js';

/**
 * Defines a global that scripts can use but not change. Assigning to it throws: silence, or a flow with another
 * `agent`, would be hard to debug.
 */
export function defineGlobal(name: string, value: unknown): void {
  deepFreeze(value, new Seen());
  defineAccessor(name, value);
}

/** Like {@link defineGlobal}, but scripts may change the value's content. */
export function defineData(name: string, value: unknown): void {
  defineAccessor(name, value);
}

/** Defines a global that is made when it is first read, and that a script's own declaration or assignment replaces. */
export function defineReplaceable(name: string, make: () => unknown): void {
  let made: { readonly value: unknown } | null = null;
  const accessor = {
    __proto__: null,
    get: () => {
      made ??= { value: make() };
      return made.value;
    },
    set: (value: unknown) => {
      const own = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
      defineProperty(globalThis, name, own);
    },
    enumerable: true,
    configurable: true,
  };
  freeze(accessor.get);
  freeze(accessor.set);
  defineProperty(globalThis, name, accessor);
}

function defineAccessor(name: string, value: unknown): void {
  const accessor = {
    get: () => value,
    set: () => {
      throw new TypeErrorClass(words`'${name}' is built in and cannot be changed; use another name`);
    },
  };
  freeze(accessor.get);
  freeze(accessor.set);
  defineProperty(globalThis, name, { ...accessor, enumerable: true, configurable: false });
}

/** Runs `code` and seals the globals that it defined. */
export function sealNewGlobals(code: () => void): void {
  const before = new Seen();
  const earlier = ownKeys(globalThis);
  for (let i = 0; i < earlier.length; i += 1) before.add(earlier[i]);
  code();
  const later = ownKeys(globalThis);
  const names: string[] = [];
  for (let i = 0; i < later.length; i += 1) {
    const key = later[i];
    if (typeof key === 'string' && !before.has(key)) append(names, key);
  }
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i];
    if (name === undefined) continue;
    const value = read(globalThis, name);
    if (getOwnPropertyDescriptor(globalThis, name)?.configurable === true) defineGlobal(name, value);
    else deepFreeze(value, new Seen());
  }
}

/** Freezes everything reachable through own members; inherited members belong to the language. */
export function deepFreeze(value: unknown, seen: Seen): void {
  if (!isObject(value) || value === objectPrototype || value === functionPrototype || seen.has(value)) return;
  seen.add(value);
  freeze(value);
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i];
    const member = key === undefined ? undefined : getOwnPropertyDescriptor(value, key);
    if (member === undefined) continue;
    deepFreeze(member.value, seen);
    deepFreeze(member.get, seen);
    deepFreeze(member.set, seen);
  }
}
