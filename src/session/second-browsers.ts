import { randomBytes } from 'node:crypto';
import { cancelledError } from '../agent-js/browser/bounds.js';
import { membersOf, misuse, shown } from '../agent-js/call-arguments.js';
import { boundedWait, unstretched } from '../base/deadline.js';
import { decodeError, type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import { StateName } from '../protocol/login-state.js';
import { BrowserName, MAX_SECOND_BROWSERS } from '../protocol/second-browser.js';
import type { HostCallContext, HostModule } from '../script/host-module.js';
import { closeBrowser, type DrivenBrowser, driveBrowser, type SessionParts } from './driven-browser.js';
import type { GivenBrowser } from './messages.js';

/** Waits end before the script's own time does, and those for slots before that, so that scripts see why. */
const BEFORE_DEADLINE_MS = 100;
const BEFORE_WAIT_MS = 400;
/** For `troupe flow check --url` alone, which looks at the first browser. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['recount']);

/** A script that waits for a browser. */
interface Waiting {
  readonly name: string;
  readonly signal: AbortSignal;
  settle(browser: DrivenBrowser): void;
  refuse(error: unknown): void;
}

interface Second {
  readonly state: string | null;
  readonly browser: Promise<DrivenBrowser>;
}

/**
 * `agent.session(name, {state}?)`: further browsers of a session, for flows of several people. The service, which owns
 * slots and browsers, is asked for one by an event, and gives or refuses it. They end with the actor.
 */
export class SecondBrowsers {
  readonly #parts: SessionParts;
  readonly #emit: (event: SessionEvent) => void;
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  readonly #open = new Map<string, Second>();
  /** Why the browser of a name is gone, until another one is opened. */
  readonly #gone = new Map<string, string>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#emit = parts.emit;
  }

  /** The module of the first browser with the calls `session`, and `in`, which makes a call on another one. */
  addTo(module: HostModule, first: Pick<DrivenBrowser, 'agent'>): HostModule {
    const session = async ([name, options, more]: readonly unknown[], context: HostCallContext): Promise<object> => {
      if (more !== undefined && more !== null) throw misuse('agent.session takes a name and options alone');
      const asked = readArguments(name, options);
      const source = () =>
        `agent.session(${[name, options]
          .filter((one) => one != null)
          .map(shown)
          .join(', ')})`;
      const step = { method: 'session', source, slug: () => asked.name, shownResult: () => null };
      if (this.#open.has(asked.name)) return this.#known(asked);
      return first.agent.otherStep(step, context.site, () => this.#request(asked, context));
    };
    return { ...module, calls: { ...module.calls, session, in: (args, context) => this.#call(args, context) } };
  }

  /**
   * The service has a browser for a script.
   * @throws NOT_FOUND if the script no longer waits; why the browser cannot be used
   */
  async give(id: string, given: GivenBrowser, timeoutMs: number): Promise<null> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) throw new TroupeError('NOT_FOUND', 'No script waits for this browser any more');
    const { name } = waiting;
    const signal = AbortSignal.any([waiting.signal, this.#closing.signal]);
    try {
      const which = { name, rulesStand: async () => undefined };
      const browser = await driveBrowser(given, this.#parts, which, { signal, deadlineMs: timeoutMs });
      if (signal.aborted || !this.#waiting.has(id)) {
        await closeBrowser(browser);
        throw new TroupeError('NOT_FOUND', 'No script waits for this browser any more');
      }
      void browser.browser.lost.then(({ reason }) => this.#lost(name, browser, reason));
      waiting.settle(browser);
      return null;
    } catch (error) {
      waiting.refuse(error);
      throw error;
    }
  }

  /** The service has none. */
  refuse(id: string, error: ErrorBody): void {
    this.#waiting.get(id)?.refuse(decodeError(error));
  }

  /** Disconnects from all of them. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new TroupeError('SESSION_ENDED', 'The session has ended'));
    const open = [...this.#open.values()];
    this.#open.clear();
    const closed = open.map(async ({ browser }) => {
      const parts = await browser.catch(() => null);
      if (parts !== null) await closeBrowser(parts);
    });
    await Promise.all(closed);
  }

  /** A name stands for one browser, whatever asks for it. */
  async #known({ name, state }: Asked): Promise<object> {
    const known = this.#open.get(name);
    if (state !== null && known?.state !== state) {
      const begun = known?.state === null ? 'no state' : `the state ${shown(known?.state)}`;
      throw misuse(`agent.session(${shown(name)}) is open, and began with ${begun}`);
    }
    await known?.browser;
    return { opened: false };
  }

  async #request({ name, state }: Asked, context: HostCallContext): Promise<object> {
    if (this.#open.size >= MAX_SECOND_BROWSERS) {
      throw new TroupeError('CAPACITY', `A session has at most ${MAX_SECOND_BROWSERS} browsers beside its own`);
    }
    this.#closing.signal.throwIfAborted();
    const browser = this.#wait(name, state, context);
    this.#open.set(name, { state, browser });
    try {
      await browser;
    } catch (error) {
      this.#open.delete(name);
      throw error;
    }
    this.#gone.delete(name);
    return { opened: true };
  }

  async #wait(name: string, state: string | null, context: HostCallContext): Promise<DrivenBrowser> {
    const id = randomBytes(6).toString('base64url');
    const ms = Math.max(1, unstretched(context.remainingMs() - BEFORE_DEADLINE_MS));
    const withinMs = Math.max(1, Math.floor(ms) - BEFORE_WAIT_MS);
    const late = () => new TroupeError('WAIT_TIMEOUT', `agent.session(${shown(name)}) had no browser in time`);
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    try {
      return await boundedWait<DrivenBrowser>({ signal, ms, late }, (settle, refuse) => {
        this.#waiting.set(id, { name, signal: context.signal, settle, refuse });
        const data = { browser: id, name, ...(state === null ? {} : { state }), withinMs };
        this.#emit({ type: 'BrowserRequested', data });
        return () => this.#waiting.delete(id);
      });
    } catch (error) {
      if (context.signal.aborted) throw cancelledError();
      const { code, error: why, details } = encodeError(error);
      // The session itself has not lost its browser.
      if (code === 'WORKER_LOST') throw new TroupeError('UNAVAILABLE', why, details);
      throw error;
    }
  }

  async #call([name, method, ...args]: readonly unknown[], context: HostCallContext): Promise<unknown> {
    const wanted = String(name);
    const second = this.#open.get(wanted);
    if (second === undefined) throw this.#goneError(wanted);
    const { module } = await second.browser;
    const called = String(method);
    const call = Object.hasOwn(module.calls, called) && !NOT_OFFERED.has(called) ? module.calls[called] : undefined;
    if (call === undefined) throw misuse(`agent.session(${shown(name)}) has no ${called}`);
    try {
      return await call(args, context);
    } catch (error) {
      const { code, error: why, details } = encodeError(error);
      // What ends the connection to this browser does not end the session.
      const isLost = this.#open.get(wanted) !== second;
      if (code === 'WORKER_LOST' && !isLost) this.#gone.set(wanted, why);
      if (code === 'WORKER_LOST' || isLost) throw this.#goneError(wanted);
      throw new TroupeError(code, why, { ...details, session: wanted }, { cause: error });
    }
  }

  #goneError(name: string): TroupeError {
    const how = `agent.session(${shown(name)}) opens another one`;
    const why = this.#gone.get(name) ?? 'it was ended';
    return new TroupeError('ACTION_FAILED', `The browser of ${shown(name)} is gone (${why}); ${how}`, {
      session: name,
    });
  }

  #lost(name: string, lost: DrivenBrowser, reason: string): void {
    if (this.#closing.signal.aborted) return;
    this.#gone.set(name, reason);
    this.#open.delete(name);
    this.#emit({ type: 'BrowserLost', data: { reason, session: name } });
    void closeBrowser(lost).catch(() => undefined);
  }
}

interface Asked {
  readonly name: string;
  readonly state: string | null;
}

function readArguments(name: unknown, options: unknown): Asked {
  const parsed = BrowserName.safeParse(name);
  if (!parsed.success) {
    const wanted = 'agent.session takes a name of 1 to 100 letters, digits, and _ . -';
    throw misuse(name === undefined || name === null ? wanted : `${wanted}, not ${shown(name)}`);
  }
  const { state } = membersOf(options, 'agent.session', ['state']);
  if (state === undefined || state === null) return { name: parsed.data, state: null };
  const named = StateName.safeParse(state);
  if (!named.success) throw misuse(`state is the name of a saved login state, not ${shown(state)}`);
  return { name: parsed.data, state: named.data };
}
