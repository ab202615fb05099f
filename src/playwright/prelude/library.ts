import { freeze, isObject, read, words } from '../../script/prelude/primordials.js';
import { define } from './define.js';
import { type LibraryParts, refuseOptions } from './library-parts.js';
import { testOf } from './test-frame.js';

/** What `newContext` may be given: the rest is decided when the session is created. */
const CONTEXT_OPTIONS = ['viewport'];

/** `require` of pasted Playwright code: its own packages, with the session's one browser behind them. */
export function libraryOf(parts: LibraryParts): (name: unknown) => unknown {
  const { engine } = parts;
  const library = { chromium: browserType(parts) };
  define(library, 'devices', freeze({}));
  const refuse = (): unknown => engine.fail('SCRIPT_ERROR', 'Sessions run Chromium; there is no other browser here');
  define(library, 'firefox', freeze({ launch: refuse }));
  define(library, 'webkit', freeze({ launch: refuse }));
  const { test, run } = testOf(parts);
  const testLibrary = { test, expect: parts.expect() };
  define(testLibrary, 'default', test);
  define(testLibrary, 'chromium', library.chromium);
  // Called at the end of a file that requires it.
  define(testLibrary, '$run', run);
  freeze(testLibrary);
  freeze(library);
  return (name) => {
    if (name === 'playwright' || name === 'playwright-core') return library;
    if (name === '@playwright/test' || name === 'playwright/test') return testLibrary;
    return engine.fail('SCRIPT_ERROR', words`Scripts can require playwright and @playwright/test only, not ${name}`);
  };
}

function browserType(parts: LibraryParts): object {
  const launch = (options: unknown): object => {
    refuseOptions(parts.engine, 'chromium.launch', options, ['headless', 'slowMo', 'args', 'timeout', 'channel']);
    return browserOf(parts);
  };
  return freeze({ launch, name: () => 'chromium' });
}

/** The session's browser: closing it is left to the session. */
function browserOf(parts: LibraryParts): object {
  const { engine, page, context } = parts;
  let pages = 0;
  const newPage = (): object => {
    pages += 1;
    const first = page();
    if (pages === 1) return first;
    const open: unknown = read(context(), 'newPage');
    const opened = typeof open === 'function' ? apply(open, context(), []) : null;
    return isObject(opened) ? opened : first;
  };
  const newContext = (options: unknown): object => {
    refuseOptions(engine, 'browser.newContext', options, CONTEXT_OPTIONS);
    if (isObject(options) && isObject(read(options, 'viewport'))) {
      const first = page();
      const resize: unknown = read(first, 'setViewportSize');
      if (typeof resize === 'function') apply(resize, first, [read(options, 'viewport')]);
    }
    const own = { __proto__: context(), newPage, close: () => undefined };
    return freeze(own);
  };
  return freeze({ newContext, newPage, close: () => undefined, contexts: () => [], isConnected: () => true });
}

const { apply } = Reflect;
