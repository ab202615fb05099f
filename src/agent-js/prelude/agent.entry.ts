import { lookOf } from './look.js';
import { withKnownMembers } from './members.js';

/** A synchronous call of the service. */
type Host = (method: string, ...args: unknown[]) => unknown;

/** Defines the global `agent`. Runs before any script, so what it captures is as the language made it. */
export function install(host: Host): void {
  const { defineProperty, freeze } = Object;
  // Without a prototype: a script may put `get` or `writable` on Object.prototype.
  const property = (value: unknown, enumerable: boolean): PropertyDescriptor =>
    ({ __proto__: null, value, enumerable, configurable: true, writable: true }) as PropertyDescriptor;
  const set = (target: object, key: PropertyKey, value: unknown, enumerable = true): void => {
    defineProperty(target, key, property(value, enumerable));
  };

  const agent = {
    go: (url: unknown) => host('go', url),
    look: lookOf(host, set),
    act: (locator: unknown, action: unknown, value: unknown) => host('act', locator, action, value),
    wait: (condition: unknown, options: unknown) => host('wait', condition, options),
    text: (locator: unknown) => host('text', locator),
    value: (locator: unknown) => host('value', locator),
    screenshot: (title: unknown) => host('screenshot', title),
    page: (js: unknown) => host('page', js),
    back: () => host('back'),
    tabs: () => host('tabs'),
    tab: (index: unknown) => host('tab', index),
    dialogs: () => host('dialogs'),
    downloads: () => host('downloads'),
  };
  for (const method of Object.values(agent)) freeze(method);
  const value = withKnownMembers('agent', freeze(agent));
  defineProperty(globalThis, 'agent', { value, enumerable: true, configurable: false, writable: false });
}
