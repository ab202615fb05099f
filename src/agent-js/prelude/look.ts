// As the language made them: a script may replace them later.
const { create, defineProperty, keys } = Object;
const { get } = Reflect;
const { isArray } = Array;

/** A synchronous call of the service. */
type Host = (method: string, ...args: unknown[]) => unknown;

interface Element {
  readonly locator: string;
}

interface Diff {
  readonly document?: 'new';
  readonly added: readonly number[];
  readonly removed: readonly string[];
  readonly changed: readonly Element[];
}

interface Seen {
  readonly url: string;
  readonly title: string;
  readonly dialog?: unknown;
  readonly unsettled?: string;
  readonly id: number | null;
  readonly elements?: readonly Element[];
  readonly pieces?: readonly (readonly [number, number] | Element)[];
  readonly diff?: Diff;
}

/** Sets a member without regard to what a script has put on `Object.prototype`. */
type Set = (target: object, key: PropertyKey, value: unknown, enumerable?: boolean) => void;

/**
 * `agent.look` as scripts see it: `unchanged` of a diff serialises as its length, `elements` not at all. The list of the
 * last look is kept here, and only what is new of the next one comes from the service.
 */
export function lookOf(host: Host, set: Set): (options: unknown) => object {
  let kept: readonly Element[] = [];
  let id: number | null = null;

  const take = (seen: Seen): readonly Element[] => {
    if (seen.elements !== undefined) return seen.elements;
    const list: Element[] = [];
    let length = 0;
    const pieces = seen.pieces ?? [];
    for (let at = 0; at < pieces.length; at++) {
      const piece = pieces[at];
      if (piece === undefined) continue;
      if ('locator' in piece) {
        set(list, length++, piece);
        continue;
      }
      const [from, count] = [piece[0], piece[1]];
      for (let place = from; place < from + count; place++) set(list, length++, kept[place]);
    }
    return list;
  };

  /** A script may do with its elements what it likes: the kept ones are not its own. */
  const copies = (elements: readonly Element[]): Element[] => {
    const own: Element[] = [];
    for (let at = 0; at < elements.length; at++) set(own, at, copyOf(elements[at]));
    return own;
  };
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const own: object = isArray(value) ? [] : {};
    for (const key of keys(value)) set(own, key, copyOf(get(value, key)));
    return own;
  };

  /** A member that is made when somebody asks for it. */
  const lazy = (target: object, key: string, make: () => unknown, enumerable: boolean): void => {
    let value: unknown;
    let made = false;
    const ask = (): unknown => {
      if (!made) value = make();
      made = true;
      return value;
    };
    defineProperty(target, key, {
      __proto__: null,
      get: ask,
      set: (other: unknown) => set(target, key, other, enumerable),
      enumerable,
      configurable: true,
    } as PropertyDescriptor);
  };

  const unchangedOf = (elements: readonly Element[], diff: Diff): unknown[] => {
    const others = create(null) as Record<string, boolean>;
    for (let at = 0; at < diff.added.length; at++) others[elements[diff.added[at] ?? 0]?.locator ?? ''] = true;
    for (let at = 0; at < diff.changed.length; at++) others[diff.changed[at]?.locator ?? ''] = true;
    const unchanged: unknown[] = [];
    let length = 0;
    for (let at = 0; at < elements.length; at++) {
      const locator = elements[at]?.locator ?? '';
      if (others[locator] !== true) set(unchanged, length++, locator);
    }
    set(unchanged, 'toJSON', () => unchanged.length, false);
    return unchanged;
  };

  return (options) => {
    const seen = host('look', options, id) as Seen;
    const elements = take(seen);
    if (seen.id !== null) {
      kept = elements;
      id = seen.id;
    }
    const look = {};
    set(look, 'url', seen.url);
    set(look, 'title', seen.title);
    if (seen.dialog !== undefined) set(look, 'dialog', seen.dialog);
    if (seen.unsettled !== undefined) set(look, 'unsettled', seen.unsettled);
    const { diff } = seen;
    if (diff === undefined) {
      set(look, 'elements', copies(elements));
      return look;
    }
    const added: Element[] = [];
    for (let at = 0; at < diff.added.length; at++) set(added, at, copyOf(elements[diff.added[at] ?? 0]));
    set(look, 'diff', true);
    if (diff.document !== undefined) set(look, 'document', diff.document);
    set(look, 'added', added);
    set(look, 'removed', diff.removed);
    set(look, 'changed', diff.changed);
    lazy(look, 'unchanged', () => unchangedOf(elements, diff), true);
    lazy(look, 'elements', () => copies(elements), false);
    const count = elements.length - diff.added.length - diff.changed.length;
    const plain = (): object => {
      const text = {};
      for (const key of keys(look)) {
        if (key !== 'unchanged') set(text, key, get(look, key));
        else set(text, key, count);
      }
      return text;
    };
    set(look, 'toJSON', plain, false);
    return look;
  };
}
