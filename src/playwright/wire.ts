/**
 * How calls cross from the sandbox to Playwright's thread: JSON, in which everything that is not a plain value is a list
 * whose first item says what it is. Objects are lists of pairs, so that no name of a member means anything.
 */
export type Wire =
  | null
  | boolean
  | number
  | string
  /** undefined */
  | readonly ['u']
  /** NaN, Infinity, -Infinity, -0 */
  | readonly ['n', string]
  | readonly ['b', string]
  /** ISO 8601 */
  | readonly ['d', string]
  /** source and flags */
  | readonly ['r', string, string]
  /** The source of a function. */
  | readonly ['f', string]
  | readonly ['a', readonly Wire[]]
  | readonly ['o', readonly (readonly [string, Wire])[]]
  /** A chain, which makes a locator. */
  | readonly ['c', string, readonly Link[]]
  /** `expect.any(...)` and the like: name, arguments, whether negated. */
  | readonly ['x', string, readonly Wire[], boolean];

/** One call of a chain; null instead of arguments: a member. */
export type Link = readonly [name: string, args: readonly Wire[] | null];

/** `root` is `page`, `context`, or `Response#7`: an object that stays in Playwright. */
export interface Chain {
  readonly root: string;
  readonly links: readonly Link[];
}

/** What a call asks of Playwright's thread. */
export interface ThreadCall {
  readonly chain: Chain;
  readonly method: string;
  readonly args: readonly Wire[];
  /** The target of the page that `page` stands for. */
  readonly targetId: string | null;
  /** Milliseconds until every wait ends. */
  readonly timeoutMs: number;
  /** How long calls wait if they do not say it; navigations. */
  readonly defaultMs: number;
  readonly navigationMs: number;
}

/** What `expect` asks. */
export interface ThreadExpect {
  /** A chain, or the value itself. */
  readonly subject: Wire;
  readonly matcher: string;
  readonly args: readonly Wire[];
  readonly not: boolean;
  readonly message: string | null;
  readonly targetId: string | null;
  readonly timeoutMs: number;
  readonly defaultMs: number;
  readonly navigationMs: number;
}

/** The answer to a script. */
export type Reply =
  | { readonly kind: 'value'; readonly value?: unknown }
  | { readonly kind: 'object'; readonly of: string; readonly id: number | null }
  | { readonly kind: 'objects'; readonly of: string; readonly ids: readonly number[] }
  | { readonly kind: 'locators'; readonly count: number }
  | { readonly kind: 'later'; readonly ticket: number }
  /** A dialog opened meanwhile, and the call cannot end before it is answered. */
  | { readonly kind: 'dialog'; readonly id: number; readonly ticket: number };
