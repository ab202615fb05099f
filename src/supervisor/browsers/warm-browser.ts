import { withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { LiveRequest, SessionId } from '../../protocol/session.js';
import { newSessionId, type OpenBounds, type OpenBrowser, type SessionTask } from '../sessions/index.js';
import {
  type ActorStart,
  leaseOptions,
  type OpenDependencies,
  openBrowser,
  releaseLease,
  startActorOn,
} from './open-browser.js';

const PROBE_MS = 2_000;
/** A task that nobody has given yet. */
const NO_TASK: SessionTask = { request: {}, batch: null, stepsDone: 0, controller: 'agent', opened: () => undefined };

/**
 * A browser for a session that has not come yet: started, connected, its page open, its script thread loaded. It goes to
 * one session or is discarded, and never serves a second one.
 *
 *   opening --> ready --claim--> a live session's, which has its id
 *      |          |`----handOver--> a job's, which has an id already
 *      `----------`----discard, fault--> gone
 */
export class WarmBrowser {
  readonly id: SessionId = newSessionId();
  /** Settles when it is of no use any more: it did not open, or its browser or its actor ended. Never rejects. */
  readonly unusable: Promise<unknown>;
  readonly #deps: OpenDependencies;
  readonly #opening = new AbortController();
  readonly #opened: Promise<OpenBrowser>;
  #open: OpenBrowser | undefined;
  #task: () => SessionTask = () => NO_TASK;
  #discarded: Promise<void> | undefined;

  /** Begins to open at once. */
  constructor(around: OpenDependencies, deadlineMs: number) {
    this.#deps = around;
    const start = { id: this.id, restart: 'transient', task: () => this.#task() } as const;
    const bounds = { signal: this.#opening.signal, deadlineMs };
    this.#opened = openBrowser(around, leaseOptions(this.id, {}), start, bounds).then((open) => this.#rehearsed(open));
    this.unusable = this.#opened.then(
      (open) => {
        this.#open = open;
        return Promise.race([open.lease.exited, open.child.terminated]);
      },
      (error: unknown) => error,
    );
  }

  /** Settles when it is ready. @throws what kept it from opening */
  async opened(): Promise<void> {
    await this.#opened;
  }

  /** False while it opens, and while its actor is started again after a fault. */
  get ready(): boolean {
    return this.#open?.child.state.kind === 'running';
  }

  /** Whether its page and its script thread answer. A browser that hangs does not. */
  async answers(): Promise<boolean> {
    try {
      await probe(await this.#opened);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Makes it the browser of a session, with the session's options; waits until it is ready where it is not yet.
   * @throws INVALID_REQUEST when the browser refuses an option, and what kept it from opening; it is gone then
   */
  async claim(task: () => SessionTask, bounds: OpenBounds): Promise<OpenBrowser> {
    this.#task = task;
    try {
      const open = await this.#within(bounds);
      const { request } = task();
      open.lease.permit(request);
      // Either is answered by the page itself: one that died or hangs just now is found out before anyone relies on it.
      if (hasPageOptions(request)) await open.child.ref.ask('ApplyOptions', request, bounds);
      else await probe(open, bounds.signal);
      return open;
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /**
   * Gives the browser to a session that has an id already, with an actor of that session's own: what an actor tells bears
   * its id from the first word. The lease keeps this browser's id.
   * @throws as {@link claim}
   */
  async handOver(start: ActorStart, bounds: OpenBounds): Promise<OpenBrowser> {
    const startedAt = performance.now();
    try {
      const { lease, child } = await this.#within(bounds);
      await child.stop();
      const deadlineMs = bounds.deadlineMs - (performance.now() - startedAt);
      return await startActorOn(this.#deps, lease, start, { ...bounds, deadlineMs });
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /** Ends it and gives everything back. Idempotent; never rejects. */
  discard(): Promise<void> {
    this.#discarded ??= this.#discard();
    return this.#discarded;
  }

  async #discard(): Promise<void> {
    this.#opening.abort(new TroupeError('UNAVAILABLE', 'The browser is not wanted any more'));
    const open = await this.#opened.catch(() => null);
    if (open === null) return;
    await open.child.stop();
    await releaseLease(open.lease, this.#deps.log);
  }

  /** The first script of a thread is slow: that is over before there is a session. */
  async #rehearsed(open: OpenBrowser): Promise<OpenBrowser> {
    try {
      await probe(open);
      return open;
    } catch (error) {
      await open.child.stop();
      await releaseLease(open.lease, this.#deps.log);
      throw error;
    }
  }

  #within({ signal, deadlineMs }: OpenBounds): Promise<OpenBrowser> {
    if (this.#open !== undefined) return Promise.resolve(this.#open);
    const late = () => new TroupeError('UNAVAILABLE', `No browser was ready within ${deadlineMs} ms`);
    return withDeadline(this.#opened, { signal, ms: deadlineMs, late });
  }
}

/** @throws what does not answer */
async function probe({ child }: OpenBrowser, signal?: AbortSignal): Promise<void> {
  await child.ref.ask('Probe', { timeoutMs: PROBE_MS }, { deadlineMs: 2 * PROBE_MS, signal });
}

/** Whether the pages of a browser that was opened without a request must be told something. */
function hasPageOptions(request: LiveRequest | SessionTask['request']): boolean {
  const { timezone, userAgent, headers, httpCredentials, ignoreHTTPSErrors, storageState } = request;
  return [timezone, userAgent, headers, httpCredentials, ignoreHTTPSErrors, storageState].some(
    (option) => option !== undefined,
  );
}
