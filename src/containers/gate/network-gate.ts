import { setMaxListeners } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { withDeadline } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { EgressSetting, SessionEgress } from '../../net-policy/egress.js';
import { TroupeError } from '../../protocol/errors.js';
import { openWorker } from '../../threads/open-worker.js';
import { endReason } from '../../threads/thread-end.js';
import { noteThread } from '../../threads/thread-faults.js';
import type { ListenerKind, ListenerPlace } from './proxy-listener.js';
import type { ProxyListeners } from './proxy-listeners.js';

/** A thread that does not answer in this time is of no use any more. */
const ANSWER_MS = 10_000;

/** The first pause before a thread that failed is started again, and the longest, in milliseconds. It doubles. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
const NAMES = { name: 'network gate', part: 'network of browsers' };

interface OpenListener {
  place: ListenerPlace;
  readonly kind: ListenerKind;
}

/** The thread that runs now. Its calls reject with the reason of `ended`. */
interface GateThread {
  readonly worker: Worker;
  readonly listeners: Remote<ProxyListeners>;
  readonly ended: AbortController;
}

/**
 * The only way out of browsers: each has a SOCKS server of its own here, on a unix socket in the folder of its container
 * or on a port of 127.0.0.1, and what may pass is decided by {@link EgressRules}. Bytes flow on a thread of their own, so
 * that pages that load much do not slow the service's answers. The thread runs while there is a door. One that fails is
 * replaced, with every door and its rules; only the connections through it are cut.
 */
export class NetworkGate {
  readonly #log: (message: string) => void;
  readonly #listeners = new Map<string, OpenListener[]>();
  readonly #wanted = new Map<string, SessionEgress>();
  readonly #setting: EgressSetting;
  readonly #entry: URL;
  #thread: GateThread | null = null;
  #startedAtMs = 0;
  /** How often in a row the thread ended soon after its start. */
  #failures = 0;
  #cancelRestart: () => void = () => undefined;

  /** @param entry of its thread */
  constructor(
    setting: EgressSetting,
    log: (message: string) => void,
    entry = new URL('./gate.thread.js', import.meta.url),
  ) {
    this.#setting = setting;
    this.#log = log;
    this.#entry = entry;
  }

  /**
   * Opens a way out for a browser, at a path in place of whatever an earlier service left there, or at a port. Answers the
   * port, where it is one.
   * @throws UNAVAILABLE; the lease must be closed all the same
   */
  async open(leaseId: string, place: ListenerPlace, kind: ListenerKind): Promise<number | undefined> {
    this.#serve();
    const listeners = this.#listeners.get(leaseId) ?? [];
    const listener: OpenListener = { place, kind };
    listeners.push(listener);
    this.#listeners.set(leaseId, listeners);
    const wanted = this.#wanted.get(leaseId);
    if (wanted !== undefined) this.#permit(leaseId, wanted);
    const port = await this.#open(leaseId, listener);
    // A thread that is started again opens the same one.
    if (port !== undefined) listener.place = { port };
    return port;
  }

  /** What one browser's session may reach; replaces what was set before. */
  permit(leaseId: string, egress: SessionEgress): void {
    this.#wanted.set(leaseId, egress);
    this.#permit(leaseId, egress);
  }

  /** To be called after more was closed in {@link EgressSetting.closedPorts}: cuts the connections to it. */
  recheck(): void {
    this.#thread?.listeners.recheck().catch((error: unknown) => this.#log(sentenceOf(error)));
  }

  /** Closes the doors of a lease and cuts what passes through. Idempotent. */
  async close(leaseId: string): Promise<void> {
    this.#wanted.delete(leaseId);
    if (!this.#listeners.delete(leaseId)) return;
    // What a thread that failed held open is closed with it.
    if (this.#listeners.size > 0) {
      await this.#ask((listeners) => listeners.close(leaseId)).catch(() => undefined);
      return;
    }
    const thread = this.#thread;
    this.#thread = null;
    this.#cancelRestart();
    await thread?.worker.terminate();
  }

  /**
   * Starts the thread, unless it runs, with every listener that was open and its rules.
   * @throws UNAVAILABLE if the system refuses the thread
   */
  #serve(): void {
    if (this.#thread !== null) return;
    this.#cancelRestart();
    this.#thread = this.#start();
    for (const [leaseId, egress] of this.#wanted) this.#permit(leaseId, egress);
    for (const [leaseId, listeners] of this.#listeners) {
      for (const listener of listeners) {
        this.#open(leaseId, listener).catch((error: unknown) => this.#log(sentenceOf(error)));
      }
    }
  }

  #start(): GateThread {
    const worker = openWorker(this.#entry, NAMES, { workerData: this.#setting });
    worker.unref();
    this.#startedAtMs = performance.now();
    const ended = new AbortController();
    // As many listen as calls are under way.
    setMaxListeners(0, ended.signal);
    const thread = { worker, listeners: wrap<ProxyListeners>(nodeEndpoint(worker)), ended };
    let cause: string | null = null;
    worker.on('error', (error) => {
      cause = endReason(error);
    });
    worker.once('exit', (code) => this.#ended(thread, cause ?? `it exited with code ${code}`));
    return thread;
  }

  #ended(thread: GateThread, cause: string): void {
    const reason = `The network gate ended: ${cause}`;
    thread.ended.abort(new TroupeError('UNAVAILABLE', reason));
    if (this.#thread !== thread) return;
    this.#thread = null;
    noteThread(NAMES.part, `${reason}; it is started again`);
    if (performance.now() - this.#startedAtMs > MAX_RESTART_MS) this.#failures = 0;
    this.#startLater(cause);
  }

  #startLater(cause: string): void {
    const ms = Math.min(RESTART_MS * 2 ** this.#failures, MAX_RESTART_MS);
    this.#failures += 1;
    this.#log(`The network gate failed and is started again: ${cause}`);
    const timer = setTimeout(() => {
      if (this.#listeners.size === 0) return;
      try {
        this.#serve();
      } catch (error) {
        this.#startLater(sentenceOf(error));
      }
    }, ms).unref();
    this.#cancelRestart = () => clearTimeout(timer);
  }

  #permit(leaseId: string, egress: SessionEgress): void {
    this.#thread?.listeners.permit(leaseId, egress).catch((error: unknown) => this.#log(sentenceOf(error)));
  }

  #open(leaseId: string, { place, kind }: OpenListener): Promise<number | undefined> {
    return this.#ask((listeners) => listeners.open(leaseId, place, kind)).catch((cause: unknown) => {
      if (cause instanceof TroupeError) throw cause;
      const message = `A proxy port could not be opened: ${sentenceOf(cause)}`;
      throw new TroupeError('UNAVAILABLE', message, undefined, { cause });
    });
  }

  /** A call of the thread; comlink itself would wait for ever on one that ended. */
  #ask<T>(call: (listeners: Remote<ProxyListeners>) => Promise<T>): Promise<T> {
    const thread = this.#thread;
    if (thread === null) return Promise.reject(new TroupeError('UNAVAILABLE', 'The network gate is being restarted'));
    const late = () => new TroupeError('UNAVAILABLE', 'The network gate does not answer');
    const answer = call(thread.listeners);
    // An answer of any kind: it runs.
    void answer.catch(() => undefined).then(() => noteThread(NAMES.part, null));
    return withDeadline(answer, { signal: thread.ended.signal, ms: ANSWER_MS, late });
  }
}
