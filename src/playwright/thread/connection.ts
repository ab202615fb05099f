import type { MessagePort } from 'node:worker_threads';
import type { Browser, BrowserContext, Dialog, Page } from 'playwright';
import { urlPattern } from '../../agent-js/network/url-pattern.js';
import { type ClassName, EVENTS } from '../../agent-js/playwright-api/classes.js';
import { isClassName, memberOf, type Result, signatureOf } from '../../agent-js/playwright-api/signature.js';
import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Chain, Reply, ThreadCall, ThreadExpect, Wire } from '../wire.js';
import { chromium } from './playwright-library.js';
import { Routes } from './routes.js';
import { decode } from './values.js';

/** Objects of Playwright that a session's scripts may hold; the oldest go. */
const MAX_OBJECTS = 5_000;
/** Calls that were begun and not read. */
const MAX_TICKETS = 100;
const MAX_ORIGINS = 1_000;
/** Methods whose first argument is an address or a glob. */
const TAKES_URL: ReadonlySet<string> = new Set(['waitForURL', 'waitForRequest', 'waitForResponse']);

/** Runs in the page. Text for a label goes to the label's field. */
const IS_PASSWORD = `(element) => {
  const field = element?.matches('input') ? element : (element?.closest('label')?.control ?? element);
  return field instanceof HTMLInputElement && field.type === 'password';
}`;
/** Of elements that a locator finds. None is not known to be harmless. */
const HAS_PASSWORD = `(elements) => elements.length === 0 || elements.some(${IS_PASSWORD})`;

interface Held {
  readonly of: ClassName;
  readonly object: object;
}

/** One session's connection of Playwright to its browser. */
export class Connection {
  readonly #browser: Browser;
  readonly #context: BrowserContext;
  readonly #objects = new Map<number, Held>();
  readonly #tickets = new Map<number, Promise<Reply>>();
  readonly #pages = new Map<string, Page>();
  readonly #targets = new WeakMap<Page, string>();
  readonly #routes = new Routes();
  readonly #onDialog = new Set<(dialog: Dialog) => void>();
  /** Where the session has been, for {@link fresh}. */
  readonly #origins = new Set<string>();
  #numbers = 0;

  /** @param port carries CDP messages, as texts, both ways */
  static async open(port: MessagePort): Promise<Connection> {
    const transport: {
      send(message: object): void;
      close(): void;
      onmessage?: (message: object) => void;
      onclose?: (reason?: string) => void;
    } = {
      send: (message) => port.postMessage(JSON.stringify(message)),
      close: () => {
        port.close();
        transport.onclose?.();
      },
    };
    port.on('message', (text: string) => transport.onmessage?.(JSON.parse(text)));
    port.on('close', () => transport.onclose?.('the session has ended'));
    const browser = await chromium.connectOverCDP(transport, { noDefaults: true });
    const [context] = browser.contexts();
    if (context === undefined) throw new TroupeError('WORKER_LOST', 'The browser has no context');
    // Playwright dismisses what it has no listener for. Dialogs belong to the session: agent sees and answers them.
    const connection = new Connection(browser, context);
    context.on('dialog', (dialog) => connection.#dialogOpened(dialog));
    return connection;
  }

  private constructor(browser: Browser, context: BrowserContext) {
    this.#browser = browser;
    this.#context = context;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** Whether a rule of `route` answers requests of this address. */
  isRouted(url: string): boolean {
    return this.#routes.matches(url);
  }

  /** Runs a chain that the session has checked. */
  async call(call: ThreadCall): Promise<Reply> {
    const { chain, method, args, targetId, timeoutMs } = call;
    this.#setTimeouts(call);
    const { object, of } = await this.#resolve(chain, targetId);
    const result = signatureOf(of, method)?.result;
    if (result === undefined) throw new TroupeError('INTERNAL', `${of}.${method} is not in the table`);
    const given = await this.#decoded(args, targetId);
    if (method === 'route' || method === 'unroute' || method === 'unrouteAll') {
      await this.#routes.change(object, method, given);
      return { kind: 'value' };
    }
    if (TAKES_URL.has(method)) given[0] = urlPattern(given[0]);
    clampTimeout(given, timeoutMs);
    if (result.kind === 'later') {
      const of = result.of ?? EVENTS[String(given[0])] ?? 'Page';
      const begun = Promise.resolve(invoke(object, method, given));
      const ticket = this.#begin(begun.then((found) => this.#reply({ kind: 'object', of, list: false }, found)));
      return { kind: 'later', ticket };
    }
    const running = Promise.resolve(invoke(object, method, given)).then((value) => this.#reply(result, value));
    // What a dialog is asked or told does not wait for another one.
    return of === 'Dialog' ? running : this.#unlessDialog(running);
  }

  /** What a call that was begun has come to. */
  async settle(ticket: number): Promise<Reply> {
    const running = this.#tickets.get(ticket);
    if (running === undefined) throw new TroupeError('SCRIPT_ERROR', 'This wait is over: begin a new one');
    return this.#unlessDialog(running);
  }

  /** The reply; or, if a dialog opens first, that: the page stands still until it is answered. */
  async #unlessDialog(running: Promise<Reply>): Promise<Reply> {
    let stop = (): void => undefined;
    const opened = new Promise<Dialog>((resolve) => {
      this.#onDialog.add(resolve);
      stop = () => this.#onDialog.delete(resolve);
    });
    try {
      const first = await Promise.race([running, opened]);
      if ('kind' in first) return first;
      return { kind: 'dialog', id: this.#hold('Dialog', first), ticket: this.#begin(running) };
    } finally {
      stop();
    }
  }

  #dialogOpened(dialog: Dialog): void {
    for (const notify of [...this.#onDialog]) notify(dialog);
  }

  async expect(call: ThreadExpect): Promise<void> {
    const { subject, matcher, args, not, message, targetId, timeoutMs } = call;
    this.#setTimeouts(call);
    const locate = await this.#locator(targetId, [subject, ...args]);
    const { checkExpectation } = await import('./expectation.js');
    await checkExpectation({ subject: decode(subject, locate), matcher, args, not, message, timeoutMs, locate });
  }

  /**
   * The page as a test begins with it: blank, alone, without cookies, storage of the sites that were open, and routes.
   */
  async fresh({ targetId, defaultMs }: Pick<ThreadCall, 'targetId' | 'defaultMs'>): Promise<void> {
    const page = await this.#page(targetId);
    const origins = new Set(this.#origins);
    for (const other of this.#context.pages()) {
      for (const frame of other.frames()) origins.add(originOf(frame.url()));
      if (other !== page) await other.close();
    }
    this.#origins.clear();
    await this.#context.unrouteAll();
    await page.unrouteAll();
    await page.goto('about:blank', { timeout: defaultMs });
    await this.#context.clearCookies();
    const session = await this.#context.newCDPSession(page);
    for (const origin of origins) {
      if (origin !== 'null') await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    }
    await session.detach();
  }

  /** Whether what has the focus, or what a chain leads to, is a password's field. Unknown is true. */
  async isSecret(call: ThreadCall): Promise<boolean> {
    const { object, of } = await this.#resolve(call.chain, call.targetId);
    if (of === 'Keyboard') {
      const page = await this.#page(call.targetId);
      return page.evaluate(`(${IS_PASSWORD})(document.activeElement)`);
    }
    const selector = of === 'Locator' ? null : call.args[0];
    const locator = selector === null ? object : invoke(object, 'locator', [selector]);
    // All at once, since `evaluate` first waits for the element, which takes three times as long.
    return Boolean(await invoke(locator, 'evaluateAll', [decode(['f', HAS_PASSWORD], () => null)]));
  }

  #setTimeouts({ defaultMs, navigationMs }: Pick<ThreadCall, 'defaultMs' | 'navigationMs'>): void {
    this.#context.setDefaultTimeout(Math.max(1, defaultMs));
    this.#context.setDefaultNavigationTimeout(Math.max(1, navigationMs));
  }

  async #decoded(args: readonly Wire[], targetId: string | null): Promise<unknown[]> {
    const locate = await this.#locator(targetId, args);
    return args.map((arg) => decode(arg, locate));
  }

  /** Turns chains in arguments into locators, which is synchronous once the page is known. */
  async #locator(targetId: string | null, args: readonly Wire[]): Promise<(chain: Chain) => unknown> {
    const page = JSON.stringify(args).includes('["c","page"') ? await this.#page(targetId) : null;
    return (chain) => this.#follow(this.#root(chain.root, page), chain).object;
  }

  async #resolve(chain: Chain, targetId: string | null): Promise<Held> {
    const page = chain.root === 'page' ? await this.#page(targetId) : null;
    const locate = await this.#locator(
      targetId,
      chain.links.flatMap(([, args]) => args ?? []),
    );
    return this.#follow(this.#root(chain.root, page), chain, locate);
  }

  #root(root: string, page: Page | null): Held {
    if (root === 'context') return { of: 'BrowserContext', object: this.#context };
    if (root === 'page' && page !== null) return { of: 'Page', object: page };
    const [of = '', id] = root.split('#');
    const held = this.#objects.get(Number(id));
    if (held?.of !== of) {
      throw new TroupeError('SCRIPT_ERROR', `This ${of} is gone: Playwright has reconnected since, or it is too old`);
    }
    return held;
  }

  #follow(from: Held, chain: Chain, locate: (chain: Chain) => unknown = (inner) => this.#inner(from, inner)): Held {
    let { of, object } = from;
    for (const [name, args] of chain.links) {
      const next = args === null ? memberOf(of, name) : nextClass(signatureOf(of, name)?.result);
      if (next === undefined) throw new TroupeError('INTERNAL', `${of}.${name} does not continue a chain`);
      const value: unknown =
        args === null
          ? Reflect.get(object, name)
          : invoke(
              object,
              name,
              args.map((arg) => decode(arg, locate)),
            );
      if (typeof value !== 'object' || value === null) throw new TroupeError('SCRIPT_ERROR', `There is no ${name}`);
      object = value;
      of = next;
    }
    return { of, object };
  }

  /** A locator among the arguments of a locator is one of the same page. */
  #inner(from: Held, chain: Chain): unknown {
    return this.#follow(chain.root === 'page' ? from : this.#root(chain.root, null), chain).object;
  }

  async #page(targetId: string | null): Promise<Page> {
    const known = targetId === null ? undefined : this.#pages.get(targetId);
    if (known !== undefined) return known;
    for (const page of this.#context.pages()) {
      if (this.#targets.has(page)) continue;
      const session = await this.#context.newCDPSession(page);
      const { targetInfo } = await session.send('Target.getTargetInfo');
      await session.detach();
      this.#targets.set(page, targetInfo.targetId);
      this.#pages.set(targetInfo.targetId, page);
      page.on('close', () => this.#pages.delete(targetInfo.targetId));
      page.on('framenavigated', (frame) => {
        if (this.#origins.size < MAX_ORIGINS) this.#origins.add(originOf(frame.url()));
      });
    }
    const page = targetId === null ? undefined : this.#pages.get(targetId);
    if (page === undefined) throw new TroupeError('ACTION_FAILED', 'The tab that `page` stands for has been closed');
    return page;
  }

  /** Keeps what is under way for a later call, which may never come. */
  #begin(running: Promise<Reply>): number {
    running.catch(() => undefined);
    const ticket = ++this.#numbers;
    this.#tickets.set(ticket, running);
    dropOldest(this.#tickets, MAX_TICKETS);
    return ticket;
  }

  #reply(result: Result, value: unknown): Reply {
    switch (result.kind) {
      case 'nothing':
        return { kind: 'value' };
      case 'locators':
        return { kind: 'locators', count: Array.isArray(value) ? value.length : 0 };
      case 'object':
        if (result.list && Array.isArray(value)) {
          return { kind: 'objects', of: result.of, ids: value.map((object) => this.#hold(result.of, object)) };
        }
        return { kind: 'object', of: result.of, id: isObject(value) ? this.#hold(result.of, value) : null };
      default:
        return value === undefined ? { kind: 'value' } : { kind: 'value', value: plain(value) };
    }
  }

  #hold(of: ClassName, object: object): number {
    const id = ++this.#numbers;
    this.#objects.set(id, { of, object });
    dropOldest(this.#objects, MAX_OBJECTS);
    return id;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}

function nextClass(result: Result | undefined): ClassName | undefined {
  return result?.kind === 'chain' && isClassName(result.of) ? result.of : undefined;
}

/** Calls a method that the table has. */
function invoke(object: unknown, method: string, args: readonly unknown[]): unknown {
  const found: unknown = isObject(object) ? Reflect.get(object, method) : undefined;
  if (typeof found !== 'function') throw new TroupeError('INTERNAL', `Playwright has no ${method}`);
  return Reflect.apply(found, object, [...args]);
}

/** No wait lasts longer than its script. */
function clampTimeout(args: readonly unknown[], timeoutMs: number): void {
  const options = args.at(-1);
  if (!isObject(options) || !Object.hasOwn(options, 'timeout')) return;
  const given: unknown = Reflect.get(options, 'timeout');
  if (typeof given !== 'number') return;
  Reflect.set(options, 'timeout', given === 0 ? timeoutMs : Math.min(stretched(given), timeoutMs));
}

function dropOldest(map: Map<number, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What JSON lacks is what scripts see of it elsewhere: cycles, dates, big integers as texts. */
function plain(value: unknown): unknown {
  const above: unknown[] = [];
  return JSON.parse(
    JSON.stringify(value, function (this: unknown, _key, member: unknown) {
      while (above.length > 0 && above.at(-1) !== this) above.pop();
      if (above.includes(member)) return '[Circular]';
      if (isObject(member)) above.push(member);
      return typeof member === 'bigint' ? String(member) : member;
    }) ?? 'null',
  );
}
