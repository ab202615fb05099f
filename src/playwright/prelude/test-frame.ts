import { append, freeze, invoke, isObject, read, words } from '../../script/prelude/primordials.js';
import { define } from './define.js';
import { type LibraryParts, refuseOptions } from './library-parts.js';

interface Suite {
  readonly parent: Suite | null;
  readonly title: string;
  readonly hooks: { readonly kind: string; readonly body: unknown }[];
  readonly items: (Case | Suite)[];
  skipped: boolean;
  only: boolean;
}

interface Case {
  readonly title: string;
  readonly body: unknown;
  readonly only: boolean;
  readonly skipped: boolean;
}

const SKIP = { __proto__: null };
/** What `test.step` passes to its body. */
const STEP = Object.freeze({ skip: () => undefined });

/**
 * `test(...)` of @playwright/test: tests are collected while their file runs, and run one after another at its end. The
 * first one that fails ends the file. Each begins with an empty page; the first one with the page as the session has it.
 */
export function testOf({ host, engine, page, context }: LibraryParts): { test: object; run: () => void } {
  const root = (): Suite => suiteOf(null, '');
  let current = root();
  let viewport: unknown;
  let begun = 0;
  /** Tests of the running file that ran to their end. */
  let ran = 0;
  /** Tests of the running file that were left out, or left themselves out. */
  let skipped = 0;

  function suiteOf(parent: Suite | null, title: string): Suite {
    return { parent, title, hooks: [], items: [], skipped: false, only: false };
  }

  const declare =
    (only: boolean, skipped: boolean) =>
    (title: unknown, second: unknown, third: unknown): void => {
      const body = typeof second === 'function' ? second : third;
      append(current.items, { title: words`${title}`, body, only, skipped });
    };

  const describe =
    (only: boolean, skipped: boolean) =>
    (first: unknown, second: unknown, third: unknown): void => {
      const body = typeof first === 'function' ? first : typeof second === 'function' ? second : third;
      const suite = suiteOf(current, typeof first === 'string' ? first : '');
      suite.only = only;
      suite.skipped = skipped;
      append(current.items, suite);
      current = suite;
      try {
        invoke(body, undefined);
      } finally {
        current = suite.parent ?? suite;
      }
    };

  const hook =
    (kind: string) =>
    (first: unknown, second: unknown): void => {
      append(current.hooks, { kind, body: typeof first === 'function' ? first : second });
    };

  /** `test.skip(title, body)` declares; `test.skip()` and `test.skip(condition)` end the running test. */
  const skip = (first: unknown, second: unknown, third: unknown): void => {
    if (typeof first === 'string') declare(false, true)(first, second, third);
    else if (first !== false) {
      if (running === null) current.skipped = true;
      else throw SKIP;
    }
  };

  let running: Case | null = null;

  function fixtures(): object {
    const browserContext = context();
    return freeze({ __proto__: null, page: page(), context: browserContext, browserName: 'chromium', isMobile: false });
  }

  function call(body: unknown, title: string): void {
    engine.settle(invoke(body, undefined, fixtures(), freeze({ title })));
  }

  function hooksOf(suite: Suite | null, kind: string, title: string): void {
    if (suite === null) return;
    const inner = kind === 'beforeEach';
    if (inner) hooksOf(suite.parent, kind, title);
    for (let i = 0; i < suite.hooks.length; i += 1) {
      const one = suite.hooks[i];
      if (one !== undefined && one.kind === kind) call(one.body, title);
    }
    if (kind === 'afterEach') hooksOf(suite.parent, kind, title);
  }

  function ownHooks(suite: Suite, kind: string): void {
    for (let i = 0; i < suite.hooks.length; i += 1) {
      const one = suite.hooks[i];
      if (one !== undefined && one.kind === kind) call(one.body, suite.title);
    }
  }

  function runCase(suite: Suite, one: Case): void {
    if (begun > 0) host('fresh');
    begun += 1;
    running = one;
    if (viewport !== undefined) invoke(read(page(), 'setViewportSize'), page(), viewport);
    try {
      try {
        hooksOf(suite, 'beforeEach', one.title);
        call(one.body, one.title);
        ran += 1;
      } finally {
        hooksOf(suite, 'afterEach', one.title);
      }
    } catch (error) {
      if (error !== SKIP) {
        engine.noteTest(error, titlePath(suite, one.title));
        throw error;
      }
      skipped += 1;
    } finally {
      running = null;
    }
  }

  function titlePath(suite: Suite | null, title: string): string {
    if (suite === null) return title;
    return titlePath(suite.parent, suite.title === '' ? title : words`${suite.title} › ${title}`);
  }

  function runSuite(suite: Suite, onlyWanted: boolean): void {
    if (onlyWanted && !hasOnly(suite)) return;
    if (suite.skipped) {
      skipped += countCases(suite);
      return;
    }
    const all = onlyWanted && suite.only;
    ownHooks(suite, 'beforeAll');
    for (let i = 0; i < suite.items.length; i += 1) {
      const item = suite.items[i];
      if (item === undefined) continue;
      if ('items' in item) runSuite(item, onlyWanted && !all);
      else if (item.skipped) skipped += 1;
      else if (!onlyWanted || all || item.only) runCase(suite, item);
    }
    ownHooks(suite, 'afterAll');
  }

  function countCases(suite: Suite): number {
    let count = 0;
    for (let i = 0; i < suite.items.length; i += 1) {
      const item = suite.items[i];
      if (item !== undefined) count += 'items' in item ? countCases(item) : 1;
    }
    return count;
  }

  function hasOnly(suite: Suite): boolean {
    if (suite.only) return true;
    for (let i = 0; i < suite.items.length; i += 1) {
      const item = suite.items[i];
      if (item !== undefined && ('items' in item ? hasOnly(item) : item.only)) return true;
    }
    return false;
  }

  const test = declare(false, false);
  define(test, 'only', declare(true, false));
  define(test, 'skip', skip);
  define(test, 'fixme', skip);
  define(test, 'slow', () => undefined);
  define(test, 'setTimeout', () => undefined);
  define(test, 'info', () => freeze({ title: running?.title ?? '', annotations: [] }));
  define(test, 'beforeEach', hook('beforeEach'));
  define(test, 'afterEach', hook('afterEach'));
  define(test, 'beforeAll', hook('beforeAll'));
  define(test, 'afterAll', hook('afterAll'));
  define(test, 'step', (_title: unknown, body: unknown) => engine.settle(invoke(body, undefined, STEP)));
  define(test, 'use', (options: unknown) => {
    refuseOptions(engine, 'test.use', options, ['viewport', 'headless', 'trace', 'video', 'screenshot']);
    if (isObject(options)) viewport = read(options, 'viewport') ?? viewport;
  });
  define(test, 'extend', () =>
    engine.fail('SCRIPT_ERROR', 'test.extend is not offered: make fixtures functions that tests call'),
  );
  define(test, 'fail', () => engine.fail('SCRIPT_ERROR', 'test.fail is not offered: use expect(...).not'));
  const describing = describe(false, false);
  define(describing, 'only', describe(true, false));
  define(describing, 'skip', describe(false, true));
  define(describing, 'fixme', describe(false, true));
  define(describing, 'parallel', describe(false, false));
  define(describing, 'serial', describe(false, false));
  define(describing, 'configure', () => undefined);
  define(test, 'describe', freeze(describing));

  function run(): void {
    const suite = current;
    current = root();
    skipped = 0;
    ran = 0;
    runSuite(suite, hasOnly(suite));
    begun = 0;
    if (ran === 0 && skipped > 0) engine.skipFlow();
  }
  return { test: freeze(test), run };
}
