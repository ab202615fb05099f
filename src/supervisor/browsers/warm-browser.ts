import { unstretched, withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionId } from '../../protocol/session.js';
import { optionsFor } from '../../session/session-options.js';
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
/** The task of a browser without a session. */
const NO_TASK: SessionTask = { request: {}, batch: null, stepsDone: 0, controller: 'agent', opened: () => undefined };

/**
 * A browser for a future session: started, connected, its page open, its script thread loaded. It is given to one
 * session
 * or discarded, and never reused.
 *
 *   opening --> ready --claim--> to a live session, which has its id
 *      |          |`----handOver--> to a job, which has an id already
 *      `----------`----discard, fault--> gone
 */
export class WarmBrowser {
  readonly id: SessionId = newSessionId();
  /** Resolves when the browser is unusable: opening failed, or its browser or actor ended. Never rejects. */
  readonly unusable: Promise<unknown>;
  readonly #deps: OpenDependencies;
  readonly #opening = new AbortController();
  readonly #opened: Promise<OpenBrowser>;
  #open: OpenBrowser | undefined;
  #task: () => SessionTask = () => NO_TASK;
  #discarded: Promise<void> | undefined;

  /** Starts to open immediately. */
  constructor(dependencies: OpenDependencies, deadlineMs: number) {
    this.#deps = dependencies;
    const start = { id: this.id, restart: 'transient', task: () => this.#task() } as const;
    const bounds = { signal: this.#opening.signal, deadlineMs };
    this.#opened = openBrowser(dependencies, leaseOptions(this.id, {}), start, bounds).then((open) =>
      this.#warmUp(open),
    );
    this.unusable = this.#opened.then(
      (open) => {
        this.#open = open;
        return Promise.race([open.lease.exited, open.child.terminated]);
      },
      (error: unknown) => error,
    );
  }

  /** Resolves when it is ready. @throws why it could not be opened */
  async opened(): Promise<void> {
    await this.#opened;
  }

  /** False while it opens, and while its actor is restarted after a fault. */
  get ready(): boolean {
    return this.#open?.child.state.kind === 'running';
  }

  /** Whether its page and its script thread respond. */
  async answers(): Promise<boolean> {
    try {
      await probe(await this.#opened);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Assigns it, with the actor that it has, to a session, and applies the session's options. Waits until it is ready.
   * @throws INVALID_REQUEST if the browser rejects an option, or why it could not be opened; it is then discarded
   */
  async claim(task: () => SessionTask, bounds: OpenBounds): Promise<OpenBrowser> {
    this.#task = task;
    try {
      const open = await this.#within(bounds);
      const { request } = task();
      const options = optionsFor('pages', request);
      open.lease.permit(optionsFor('network', request));
      // The page itself answers either call, so a browser that has just died or hangs is found before the session uses
      // it.
      if (Object.keys(options).length > 0) await open.child.ref.ask('ApplyOptions', options, bounds);
      else await probe(open, bounds.signal);
      return open;
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /**
   * Gives the browser to a session that already has an id, with a new actor: an actor's events contain its session's
   * id.
   * The lease keeps this browser's id.
   * @throws as {@link claim}
   */
  async handOver(start: ActorStart, bounds: OpenBounds): Promise<OpenBrowser> {
    const startedAt = performance.now();
    try {
      const { lease, child } = await this.#within(bounds);
      await child.stop();
      const deadlineMs = bounds.deadlineMs - unstretched(performance.now() - startedAt);
      return await startActorOn(this.#deps, lease, start, { ...bounds, deadlineMs });
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /** Ends it and releases everything. Idempotent; never rejects. */
  discard(): Promise<void> {
    this.#discarded ??= this.#discard();
    return this.#discarded;
  }

  async #discard(): Promise<void> {
    this.#opening.abort(new TroupeError('UNAVAILABLE', 'The browser is no longer needed'));
    const open = await this.#opened.catch(() => null);
    if (open === null) return;
    await open.child.stop();
    await releaseLease(open.lease, this.#deps.log);
  }

  /** Runs a first script, which is slow in each thread, before there is a session. */
  async #warmUp(open: OpenBrowser): Promise<OpenBrowser> {
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

/** @throws if the page or the script thread does not answer */
async function probe({ child }: OpenBrowser, signal?: AbortSignal): Promise<void> {
  await child.ref.ask('Probe', { timeoutMs: PROBE_MS }, { deadlineMs: 2 * PROBE_MS, signal });
}
