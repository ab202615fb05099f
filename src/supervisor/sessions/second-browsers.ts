import { join } from 'node:path';
import type { LoginStates } from '../../auth/login-states.js';
import { unstretched } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { BrowserLease } from '../../containers/driver.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { BrowserRequest } from '../../protocol/second-browser.js';
import type { AutoRequest, LiveRequest, SessionId } from '../../protocol/session.js';
import { optionsFor } from '../../session/session-options.js';
import { keepDownloads } from '../artifacts/index.js';
import { type OpenBounds, REOPEN_MS, type SessionChild } from './session-child.js';
import type { Slot } from './session-lifecycle.js';
import { newSessionId } from './session-record.js';

/** The shortest time for opening a browser whose slot came late. */
const MIN_OPEN_MS = 5_000;
/** How much later than its own deadline an actor's reply may arrive. */
const GIVE_GRACE_MS = 1_000;

/** Where slots and browsers come from. */
export interface BrowserSource {
  readonly slots: {
    /** @throws CAPACITY at the deadline */
    waitForSlot(caller: string, bounds: OpenBounds): Promise<Slot>;
  };
  readonly pool: {
    /** A browser without an actor. Call with a slot. @throws UNAVAILABLE */
    lease(leaseId: SessionId, request: LiveRequest | AutoRequest, bounds: OpenBounds): Promise<BrowserLease>;
  };
}

/** What the second browsers of a session need of it. */
interface SecondBrowsersParts extends BrowserSource {
  readonly states: LoginStates;
  readonly config: Pick<Config, 'createTimeout'>;
  readonly request: LiveRequest | AutoRequest;
  /** See `Submitter.caller`. */
  readonly caller: string;
  /** The session's folder, for their downloads. */
  readonly dir: string;
  log(line: string): void;
  /** @throws SESSION_ENDED if the session is not running */
  actor(): SessionChild['ref'];
}

interface Held {
  readonly name: string;
  readonly slot: Slot;
  lease: BrowserLease | null;
  /** The actor has it. Until then, only {@link SecondBrowsers.#give} releases it. */
  isGiven: boolean;
  released?: Promise<void>;
}

/**
 * The browsers that a session's scripts have got with `agent.session`, each with a slot. They end with the session's
 * actor, since only that is connected to them.
 */
export class SecondBrowsers {
  readonly #parts: SecondBrowsersParts;
  /** By lease id; there before the browser is. */
  readonly #held = new Map<string, Held>();
  readonly #opening = new Set<Promise<void>>();
  /** Names whose browsers ended with an actor that was restarted, until a script has got the error. */
  readonly #lost = new Set<string>();
  #closing = new AbortController();

  constructor(parts: SecondBrowsersParts) {
    this.#parts = parts;
  }

  /** Whether one of them has this lease. */
  has(leaseId: string): boolean {
    return this.#held.has(leaseId);
  }

  /** A script asks for a browser. */
  requested(request: BrowserRequest): void {
    const opening = this.#open(request, this.#closing.signal).finally(() => this.#opening.delete(opening));
    this.#opening.add(opening);
  }

  /** The actor is no longer connected to the browser of this name. */
  lost(name: string): void {
    void this.#releaseGiven((held) => held.name === name);
  }

  /** Restores the names of those that an earlier run of the service had. */
  restore(names: Iterable<string>): void {
    for (const name of names) this.#lost.add(name);
  }

  /** Ends those of the actor whenever it is gone and will be restarted. */
  watch(child: Pick<SessionChild, 'states$'>): void {
    child.states$.subscribe(({ kind }) => {
      if (kind !== 'backing-off') return;
      for (const { name } of this.#held.values()) this.#lost.add(name);
      void this.#end();
    });
  }

  /** Ends all of them, and those that are being opened. Never rejects. Idempotent. */
  async release(): Promise<void> {
    this.#lost.clear();
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#closing.abort(new TroupeError('SESSION_ENDED', 'The session has ended'));
    this.#closing = new AbortController();
    // Not those that the next actor asks for meanwhile.
    await Promise.all([...this.#opening, this.#releaseGiven(() => true)]);
  }

  async #releaseGiven(isMeant: (held: Held) => boolean): Promise<void> {
    const given = [...this.#held].filter(([, held]) => held.isGiven && isMeant(held));
    await Promise.all(given.map(([leaseId]) => this.#releaseOne(leaseId)));
  }

  /** Never rejects. */
  async #open(request: BrowserRequest, signal: AbortSignal): Promise<void> {
    const { actor, log } = this.#parts;
    const { browser, name } = request;
    try {
      if (this.#lost.delete(name)) throw lostError(name);
      await this.#give(request, signal);
    } catch (error) {
      if (!(error instanceof TroupeError)) log(`a second browser could not be opened: ${sentenceOf(error)}`);
      try {
        actor().tell('RefuseBrowser', { browser, error: encodeError(error) });
      } catch {
        // The script that asked has ended with the session.
      }
    }
  }

  async #give({ browser, name, state, withinMs }: BrowserRequest, signal: AbortSignal): Promise<void> {
    const { slots, pool, states, config, request, caller, actor } = this.#parts;
    const begunAt = performance.now();
    const createMs = config.createTimeout * 1000;
    const leftMs = () => Math.max(MIN_OPEN_MS, createMs - unstretched(performance.now() - begunAt));
    // Of another person: not with the login of the first browser.
    const { storageState: _, ...page } = optionsFor('pages', request);
    const login = state === undefined ? {} : { storageState: await states.read(caller, state) };
    const slot = await slots.waitForSlot(caller, { signal, deadlineMs: Math.min(createMs, withinMs) });
    const leaseId = newSessionId();
    const held: Held = { name, slot, lease: null, isGiven: false };
    this.#held.set(leaseId, held);
    try {
      const lease = await pool.lease(leaseId, request, { signal, deadlineMs: leftMs() });
      held.lease = lease;
      lease.permit(optionsFor('network', request));
      signal.throwIfAborted();
      const given = { endpoint: lease.endpoint, devTools: lease.devTools(), page: { ...page, ...login } };
      const bounds = { deadlineMs: REOPEN_MS + GIVE_GRACE_MS, signal };
      await actor().ask('GiveBrowser', { browser, given, timeoutMs: REOPEN_MS }, bounds);
      signal.throwIfAborted();
      held.isGiven = true;
      void lease.exited.then(() => this.#releaseOne(leaseId));
    } catch (error) {
      await this.#releaseOne(leaseId);
      throw error;
    }
  }

  /** Never rejects: the reaper removes later what cannot be removed now. */
  #releaseOne(leaseId: string): Promise<void> {
    const held = this.#held.get(leaseId);
    if (held === undefined) return Promise.resolve();
    held.released ??= this.#released(held).finally(() => this.#held.delete(leaseId));
    return held.released;
  }

  async #released({ name, slot, lease }: Held): Promise<void> {
    const { log, dir } = this.#parts;
    if (lease !== null) {
      await keepDownloads(lease.endpoint.downloadsDir, join(dir, 'downloads', name)).catch((error) =>
        log(`downloads of its browser '${name}' could not be kept: ${sentenceOf(error)}`),
      );
      await lease.release().catch((error) => log(`its browser '${name}' could not be removed: ${sentenceOf(error)}`));
    }
    slot.release();
  }
}

function lostError(name: string): TroupeError {
  const what = `The session was restarted, and the browser of agent.session(${JSON.stringify(name)}) was ended`;
  return new TroupeError('SESSION_RESTARTED', `${what}; call it again for another one`, { session: name });
}
