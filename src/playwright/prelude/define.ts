import { defineProperty } from '../../script/prelude/primordials.js';

/** Defines a member, whatever a script has put on Object.prototype. */
export function define(target: object, name: string, value: unknown): void {
  const member: PropertyDescriptor & { __proto__: null } = { __proto__: null, value, enumerable: true };
  defineProperty(target, name, member);
}

/** Defines a member that is made each time it is read. */
export function defineGetter(target: object, name: string, get: () => unknown): void {
  const member: PropertyDescriptor & { __proto__: null } = { __proto__: null, get, enumerable: true };
  defineProperty(target, name, member);
}
