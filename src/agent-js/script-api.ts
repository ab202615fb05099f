import { ActionName } from '../protocol/look.js';
import { playwrightTypes } from './playwright-api/types.js';

/** Names of the language that scripts have. */
const LANGUAGE =
  'undefined NaN Infinity globalThis Object Function Array Number Boolean String Symbol BigInt Math JSON Date RegExp Map Set WeakMap WeakSet WeakRef Promise Proxy Reflect Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval FinalizationRegistry Iterator';

/**
 * What scripts can call, with its types as TypeScript writes them. The one source of `agent-js.d.ts` and of what
 * `troupe flow check` knows. What a page, a flow or a request's answer decides is `any`: flows are plain JavaScript, and
 * their authors could not narrow an `unknown`.
 */
const API: { readonly [object: string]: { readonly [call: string]: string } } = {
  agent: {
    go: '(url: string): { url: string; title: string; status: number | null; dialog?: Dialog }',
    look: '(options?: { full?: boolean; within?: string }): Look',
    act: '(locator: string, action: Action, value?: ActValue | ActOptions | null, options?: ActOptions): Acted',
    wait: "(condition: 'navigation' | 'idle' | number | string, options?: { timeout?: number }): { waitedMs: number }",
    text: '(locator?: string): string',
    read: '(locator?: string): string',
    value: '(locator: string): any',
    screenshot:
      '(title?: string | { title?: string; within?: string; marks?: boolean }): { file: string; width: number; height: number }',
    page: '(js: string): any',
    back: '(): { url: string; title: string }',
    tabs: '(): { index: number; url: string; title: string; active: boolean }[]',
    tab: '(index: number): { url: string; title: string }',
    dialogs: '(): { kind: string; message: string; url: string }[]',
    downloads: '(): { name: string; bytes: number; url: string }[]',
    handoff: '(text: string, options?: Timeout): { waitedMs: number; note?: string }',
    requests: '(filter?: string | { url?: string; method?: string; type?: string; status?: number }): PageRequest[]',
    mock: '(url: string, answer: MockAnswer | null): void',
    clock: ': Playwright.Clock',
    saveState:
      '(name: string, options?: { expiresIn?: number }): { name: string; cookies: number; origins: string[]; expiresAt: string }',
    session: '(name: string, options?: { state?: string }): Session',
    expect: '(target: string | typeof agent | Session): Expectation & { not: Expectation }',
    until: '<T>(body: () => T, options?: Timeout): T',
    expectScreenshot:
      '(name: string, options?: Timeout & { within?: string; mask?: string | readonly string[]; threshold?: number }): Compared',
    audit: '(options?: Timeout & AuditOptions): Audit',
    vitals:
      '(options?: Timeout): { ttfb: number | null; fcp: number | null; lcp: number | null; cls: number | null; inp: number | null }',
    pdf: '(options?: Timeout & { name?: string; landscape?: boolean }): { file: string; bytes: number }',
    expectLook: '(name: string, options?: Timeout & { within?: string }): Compared',
  },
  match: {
    equals: '(actual: unknown, expected: unknown, message?: string): true',
    contains: '(actual: unknown, part: unknown, message?: string): true',
    each: '(actual: readonly unknown[], expected: unknown, message?: string): true',
  },
  Flow: {
    run: '(path: string, args?: object): any',
    resume: '(how?: object): any',
  },
  File: {
    write: '(path: string, text: string): { path: string; bytes: number }',
    read: '(path: string): string',
    list: '(glob?: string): string[]',
  },
  Request: {
    run: '(path: string, variables?: object): { status: number; headers: any; body: any }',
  },
};

/** The calls of each object that scripts have, by its name. */
export const SCRIPT_CALLS: { readonly [object: string]: readonly string[] } = Object.fromEntries(
  Object.entries(API).map(([object, calls]) => [object, Object.keys(calls)]),
);

export const ACTIONS: readonly string[] = ActionName.options;

/** Every name that a script may use without declaring it. */
export const GLOBALS: ReadonlySet<string> = new Set([
  ...LANGUAGE.split(' '),
  ...Object.keys(API),
  ...['console', 'args', 'page', 'context', 'expect'],
]);

/** `agent-js.d.ts`: the globals of scripts, for editors and compilers. */
export function scriptTypes(): string {
  const objects = Object.entries(API).map(([object, calls]) => {
    const members = Object.entries(calls).map(([name, signature]) => `  ${name}${signature};`);
    // match is a function that has members.
    const own = object === 'match' ? ['  (actual: unknown, expected: unknown, message?: string): true;'] : [];
    return `declare const ${object}: {\n${[...own, ...members].join('\n')}\n};`;
  });
  const actions = ACTIONS.map((name) => `'${name}'`).join(' | ');
  return `// The globals of Troupe's flows and scripts. Made by: troupe flow types
type Action = ${actions};
type Point = readonly [x: number, y: number];
type DragWay = { by: Point } | { to: string; x?: number; y?: number } | { path: readonly Point[] };
type ActValue = string | number | readonly string[] | Point | DragWay;
interface ActOptions {
  x?: number;
  y?: number;
  timeout?: number;
}
interface Dialog {
  kind: string;
  message: string;
}
interface Acted {
  changed: boolean;
  url: string;
  title: string;
  value?: string | null;
  drag?: { outcome: 'moved' | 'copied' | 'removed' | 'dropped' | 'snapped'; by?: [dx: number, dy: number] };
  dialog?: Dialog;
  newTab?: number;
  download?: { name: string; url: string };
  status?: number;
}
interface PageRequest {
  method: string;
  url: string;
  status: number | null;
  type: string;
  durationMs: number | null;
  requestBody?: any;
  body?: any;
  error?: string;
}
interface MockAnswer {
  status?: number;
  json?: unknown;
  body?: string;
  headers?: Record<string, string>;
  contentType?: string;
  delay?: number;
  abort?: boolean | string;
}
interface Timeout {
  timeout?: number;
}
type Session = Omit<typeof agent, 'session' | 'handoff'>;
type Impact = 'minor' | 'moderate' | 'serious' | 'critical';
interface AuditOptions {
  within?: string;
  exclude?: string | readonly string[];
  tags?: string | readonly string[];
  impact?: Impact | 'none';
}
interface Violation {
  id: string;
  impact: Impact;
  help: string;
  url: string;
  count: number;
  elements: { locator: string; html: string }[];
}
interface Audit {
  violations: Violation[];
  passed: number;
  undecided: number;
  frames: number;
}
interface Compared {
  baseline: string;
  status: 'matched' | 'written';
}
interface Expectation {
  toHaveText(text: string | number | RegExp, options?: Timeout): void;
  toContainText(text: string | number | RegExp, options?: Timeout): void;
  toBeVisible(options?: Timeout): void;
  toBeHidden(options?: Timeout): void;
  toBeEnabled(options?: Timeout): void;
  toBeDisabled(options?: Timeout): void;
  toBeChecked(options?: Timeout): void;
  toHaveValue(value: string | number | RegExp | readonly string[], options?: Timeout): void;
  toHaveCount(count: number, options?: Timeout): void;
  toHaveAttribute(name: string, options?: Timeout): void;
  toHaveAttribute(name: string, value: string | number | RegExp, options?: Timeout): void;
  toHaveURL(url: string | RegExp, options?: Timeout): void;
  toHaveTitle(title: string | RegExp, options?: Timeout): void;
}
interface LookElement {
  role: string;
  name: string;
  locator: string;
  actions: string[];
  [member: string]: any;
}
interface Look {
  url: string;
  title: string;
  elements: LookElement[];
  diff?: true;
  added?: LookElement[];
  removed?: string[];
  changed?: any[];
  unchanged?: string[];
}
${objects.join('\n')}
declare const args: any;
declare const console: Record<'log' | 'info' | 'warn' | 'error' | 'debug', (...values: unknown[]) => void>;
${playwrightTypes()}`;
}
