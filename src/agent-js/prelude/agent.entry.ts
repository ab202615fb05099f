/** A synchronous call of the service. */
type Host = (method: string, ...args: unknown[]) => unknown;

interface Diff {
  readonly added: readonly number[];
  readonly removed: readonly string[];
  readonly changed: readonly unknown[];
  readonly unchanged: readonly number[];
}

interface Seen {
  readonly url: string;
  readonly title: string;
  readonly dialog?: unknown;
  readonly elements: readonly { readonly locator: string }[];
  readonly diff?: Diff;
}

/** Defines the global `agent`. Runs before any script, so what it captures is as the language made it. */
export function install(host: Host): void {
  const { defineProperty, freeze } = Object;
  // Without a prototype: a script may put `get` or `writable` on Object.prototype.
  const property = (value: unknown, enumerable: boolean): PropertyDescriptor =>
    ({ __proto__: null, value, enumerable, configurable: true, writable: true }) as PropertyDescriptor;
  const set = (target: object, key: PropertyKey, value: unknown, enumerable = true): void => {
    defineProperty(target, key, property(value, enumerable));
  };

  /** Makes of a look what scripts see: `unchanged` serialises as its length, `elements` of a diff not at all. */
  const finish = (seen: Seen): object => {
    const { url, title, dialog, elements, diff } = seen;
    const look = {};
    set(look, 'url', url);
    set(look, 'title', title);
    if (dialog !== undefined) set(look, 'dialog', dialog);
    if (diff === undefined) {
      set(look, 'elements', elements);
      return look;
    }
    const pick = (places: readonly number[], take: (element: { readonly locator: string }) => unknown): unknown[] => {
      const picked: unknown[] = [];
      for (let at = 0; at < places.length; at++) {
        const element = elements[places[at] ?? 0];
        if (element !== undefined) set(picked, at, take(element));
      }
      return picked;
    };
    const unchanged = pick(diff.unchanged, (element) => element.locator);
    set(unchanged, 'toJSON', () => unchanged.length, false);
    set(look, 'diff', true);
    set(
      look,
      'added',
      pick(diff.added, (element) => element),
    );
    set(look, 'removed', diff.removed);
    set(look, 'changed', diff.changed);
    set(look, 'unchanged', unchanged);
    set(look, 'elements', elements, false);
    return look;
  };

  const agent = {
    go: (url: unknown) => host('go', url),
    look: (options: unknown) => finish(host('look', options) as Seen),
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
  defineProperty(globalThis, 'agent', { value: freeze(agent), enumerable: true, configurable: false, writable: false });
}
