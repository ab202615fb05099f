import { randomUUID } from 'node:crypto';
import { stretched } from '../../base/deadline.js';
import { type PageCallName, type PageCalls, WAITING_CALLS, WORLD } from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import { readBundle } from '../../script/bundle.js';
import { type Bounds, remainingMs, throwIfCancelled, within } from '../browser/bounds.js';
import type { BrowserPort, SendOptions } from '../browser/browser-port.js';
import type { CdpEvent, CdpRemoteObject, CdpResult } from '../browser/cdp.js';

/** The events by which the two scripts below speak to each other; no page can guess them. */
const NAMES = {
  news: randomUUID(),
  question: randomUUID(),
  answer: randomUUID(),
  keys: randomUUID(),
  timers: randomUUID(),
  pending: randomUUID(),
  dialog: randomUUID(),
  declared: randomUUID(),
  value: randomUUID(),
};
const HOOK_NAMES = JSON.stringify(NAMES);
/** The script of the isolated world; it runs in each document before the document's own. */
export const WORLD_SOURCE = `(${readBundle(import.meta.url, '../../page/world')})(${HOOK_NAMES})`;
/** Runs in the page's own world, before its scripts, and notes what a document does not show. */
export const HOOKS_SOURCE = `(${readBundle(import.meta.url, '../../page/hooks')})(${HOOK_NAMES})`;

const WAITING: ReadonlySet<PageCallName> = new Set(WAITING_CALLS);
/** Calls that are most often the very same as the last time. */
const REPEATED: ReadonlySet<PageCallName> = new Set(['look', 'state', 'census']);

/** Calls the script in its world. */
const CALL = `function (name, args) { return ${WORLD}.call(name, JSON.parse(args)); }`;

/** A new document's world is announced with its commit; where it is not by then, it is made. */
const WORLD_MS = stretched(1_000);

/** The document went while it was asked, or its world is not there. */
const GONE =
  /context with specified id|context was destroyed|navigated or closed|Promise was collected|uniqueContextId/i;

/** It went while nothing of the page ran. */
const WENT = /context with specified id|object with given id/i;
/** By these the browser refuses a call that has not begun, and no other. */
const NOT_BEGUN = /uniqueContextId not found|object with given id|same JavaScript world/i;
const REPLACED = 'The page was replaced by another one while the JavaScript ran in it';
/** The objects that are named while `pageValue` is looked for, and itself. */
const [SOUGHT, KEPT] = ['sought', 'kept'];
/** Documents that may go one after the other while they are asked for a value. */
const MAX_TRIES = 20;

/** Asks the script in one frame. */
export class PageWorld {
  readonly #browser: BrowserPort;
  /** Of the process that draws the frame. */
  readonly session: string;
  readonly #frame: string;
  readonly #announced: (holds: () => boolean, bounds: Bounds) => Promise<boolean>;
  #context: number | undefined;
  /** The context of the page's own scripts, by the name that no other has ever. */
  #own: string | undefined;
  /** The protocol's name of the present document's `pageValue`. */
  #pageValue: string | undefined;

  constructor(
    browser: BrowserPort,
    session: string,
    frame: string,
    announced: (holds: () => boolean, bounds: Bounds) => Promise<boolean>,
  ) {
    this.#browser = browser;
    this.session = session;
    this.#frame = frame;
    this.#announced = announced;
  }

  /** True when a world has come or gone. */
  observe(event: CdpEvent): boolean {
    switch (event.method) {
      case 'Runtime.executionContextCreated': {
        const { id, uniqueId, name, auxData } = event.params.context;
        if (auxData?.frameId !== this.#frame) return false;
        if (auxData.isDefault === true) {
          this.#own = uniqueId;
          this.#pageValue = undefined;
        } else if (name === WORLD) this.#context = id;
        else return false;
        return true;
      }
      case 'Runtime.executionContextDestroyed':
        if (event.params.executionContextId === this.#context) this.#context = undefined;
        if (event.params.executionContextUniqueId === this.#own) this.#own = undefined;
        return false;
      case 'Runtime.executionContextsCleared':
        this.#context = undefined;
        this.#own = undefined;
        this.#pageValue = undefined;
        return false;
      default:
        return false;
    }
  }

  /**
   * One call in the present document, or null where the document went meanwhile.
   *
   * @throws WAIT_TIMEOUT when the page does not answer within the bounds
   */
  async tryCall<N extends PageCallName>(
    name: N,
    args: PageCalls[N][0],
    bounds: Bounds,
  ): Promise<{ readonly title: string; readonly value: PageCalls[N][1] } | null> {
    // With a world at hand the call is on its way when this returns.
    const context = this.#context ?? (await this.#presentContext(bounds));
    const text = await this.#answered(context, bounds, (options) =>
      REPEATED.has(name)
        ? this.#browser.send('Runtime.evaluate', sentence(name, args, context), options)
        : this.#browser.send('Runtime.callFunctionOn', application(name, args, context), options),
    );
    // The page script is ours, and its types are the same file's.
    return text === null ? null : (JSON.parse(String(text.value)) as { title: string; value: PageCalls[N][1] });
  }

  /**
   * Evaluates JavaScript among the page's own scripts; the answer is the JSON of its value, or what it threw. See
   * page/page-value.ts. It runs once: a document that goes meanwhile is an error.
   */
  async evaluate(js: string, maxLength: number, bounds: Bounds): Promise<CdpResult<'Runtime.callFunctionOn'>> {
    for (let tries = 1; ; tries++) {
      let asked = false;
      try {
        const options = { session: this.session, timeoutMs: Math.max(1, remainingMs(bounds)) };
        if (this.#own === undefined) await this.#announced(() => this.#own !== undefined, within(bounds, WORLD_MS));
        const objectId = this.#pageValue ?? (await this.#findPageValue(options));
        this.#pageValue = objectId;
        const call = {
          uniqueContextId: this.#own ?? '',
          functionDeclaration: 'function (pageValue, js, maxLength) { return pageValue(js, maxLength); }',
          arguments: [{ objectId }, { value: js }, { value: maxLength }],
          awaitPromise: true,
          returnByValue: true,
          userGesture: true,
        };
        asked = true;
        return await this.#browser.send('Runtime.callFunctionOn', call, options);
      } catch (error) {
        this.#pageValue = undefined;
        const message = error instanceof Error ? error.message : '';
        const hasNotRun = (asked ? NOT_BEGUN : WENT).test(message);
        if (asked && !hasNotRun && GONE.test(message)) throw new TroupeError('ACTION_FAILED', REPLACED);
        if (!hasNotRun || tries === MAX_TRIES || remainingMs(bounds) <= 0) throw error;
        throwIfCancelled(bounds);
      }
    }
  }

  /** The page's hooks hold it as a listener on the window, whose type no page can guess. */
  async #findPageValue(options: SendOptions): Promise<string> {
    const named = { objectGroup: SOUGHT };
    try {
      const { result } = await this.#browser.send('Runtime.evaluate', { expression: 'window', ...named }, options);
      const held = async () => {
        const { objectId = '' } = result;
        const { listeners } = await this.#browser.send('DOMDebugger.getEventListeners', { objectId }, options);
        return listeners.find(({ type }) => type === NAMES.value)?.handler?.objectId;
      };
      let objectId = await held();
      if (objectId === undefined) {
        // Something has taken the listeners away, such as another document that wrote into this one.
        await this.#browser.send('Runtime.evaluate', { expression: HOOKS_SOURCE, ...named }, options);
        objectId = await held();
      }
      if (objectId === undefined) throw new TroupeError('ACTION_FAILED', 'This page runs no JavaScript');
      // Named by itself, it stays when the others are released.
      const itself = { objectId, functionDeclaration: 'function () { return this; }', objectGroup: KEPT };
      const kept = await this.#browser.send('Runtime.callFunctionOn', itself, options);
      return kept.result.objectId ?? objectId;
    } finally {
      this.#browser.send('Runtime.releaseObjectGroup', named, { session: this.session }).catch(() => undefined);
    }
  }

  /** The node of the action under way, as the protocol names it; null where there is none. */
  async targetNode(bounds: Bounds): Promise<string | null> {
    const context = await this.#presentContext(bounds);
    const params = { expression: `${WORLD}.target()`, contextId: context };
    const node = await this.#answered(context, bounds, (options) =>
      this.#browser.send('Runtime.evaluate', params, options),
    );
    return node?.objectId ?? null;
  }

  /** Tells the document around a frame what the protocol calls it. */
  async nameFrame(frame: string, bounds: Bounds): Promise<void> {
    const options = { session: this.session, timeoutMs: Math.max(1, remainingMs(bounds)) };
    const { backendNodeId } = await this.#browser.send('DOM.getFrameOwner', { frameId: frame }, options);
    await this.#hand(backendNodeId, `function (id) { ${WORLD}.nameFrame(this, id); }`, frame, bounds);
  }

  /** Hands the world a closed shadow root of its document. */
  adoptRoot(backendNodeId: number, bounds: Bounds): Promise<void> {
    return this.#hand(backendNodeId, `function () { ${WORLD}.adoptRoot(this); }`, null, bounds);
  }

  /** Calls a function on a node of this document. */
  async #hand(backendNodeId: number, functionDeclaration: string, value: unknown, bounds: Bounds): Promise<void> {
    const executionContextId = await this.#presentContext(bounds);
    const options = { session: this.session, timeoutMs: Math.max(1, remainingMs(bounds)) };
    const resolved = await this.#browser.send('DOM.resolveNode', { backendNodeId, executionContextId }, options);
    const { objectId } = resolved.object;
    if (objectId === undefined) return;
    const call = { functionDeclaration, objectId, arguments: [{ value }] };
    await this.#browser.send('Runtime.callFunctionOn', call, options);
  }

  /** Null where the context that was asked is gone. */
  async #answered(
    context: number,
    bounds: Bounds,
    ask: (options: SendOptions) => Promise<CdpResult<'Runtime.evaluate'>>,
  ): Promise<CdpRemoteObject | null> {
    try {
      const { result, exceptionDetails } = await ask({
        session: this.session,
        timeoutMs: Math.max(1, remainingMs(bounds)),
      });
      if (exceptionDetails === undefined) return result;
      const text = exceptionDetails.exception?.description ?? exceptionDetails.text;
      throw new TroupeError('INTERNAL', `The page script failed: ${text.slice(0, 500)}`);
    } catch (error) {
      if (error instanceof TroupeError && error.code === 'ACTION_FAILED' && GONE.test(error.message)) {
        if (this.#context === context) this.#context = undefined;
        return null;
      }
      throw error;
    }
  }

  async #presentContext(bounds: Bounds): Promise<number> {
    if (this.#context !== undefined) return this.#context;
    await this.#announced(() => this.#context !== undefined, within(bounds, WORLD_MS));
    if (this.#context !== undefined) return this.#context;
    throwIfCancelled(bounds);
    const options = { session: this.session, timeoutMs: Math.max(1, remainingMs(bounds)) };
    const made = { frameId: this.#frame, worldName: WORLD };
    const { executionContextId } = await this.#browser.send('Page.createIsolatedWorld', made, options);
    await this.#browser.send('Runtime.evaluate', { expression: WORLD_SOURCE, contextId: executionContextId }, options);
    this.#context = executionContextId;
    return executionContextId;
  }
}

/** A call as one text, which the engine has compiled already if it is the same as before. */
function sentence(name: PageCallName, args: PageCalls[PageCallName][0], contextId: number) {
  const expression = `${WORLD}.call(${JSON.stringify(name)}, ${JSON.stringify(args)})`;
  return { expression, contextId, awaitPromise: WAITING.has(name), returnByValue: true };
}

/** A call of a function that the engine has compiled. It compiles each argument too, a text with the least ado. */
function application(name: PageCallName, args: PageCalls[PageCallName][0], executionContextId: number) {
  const given = [{ value: name }, { value: JSON.stringify(args) }];
  const awaitPromise = WAITING.has(name);
  return { functionDeclaration: CALL, arguments: given, executionContextId, awaitPromise, returnByValue: true };
}
