import { Worker } from 'node:worker_threads';
import { sentenceOf } from '../../base/system-fault.js';
import type { EgressSetting, EgressWish } from '../../net-policy/egress.js';
import { TroupeError } from '../../protocol/errors.js';
import type { GateAnswer, GateMessage } from './gate-messages.js';
import type { ListenerKind, ListenerPlace } from './proxy-listener.js';

/** A thread that does not answer in this time is of no use any more. */
const ANSWER_MS = 10_000;

/** So that a thread which cannot even start does not keep a core busy. */
const RESTART_MS = 100;

type Call = Extract<GateMessage, { readonly call: number }>;
type Unnumbered<T> = T extends Call ? Omit<T, 'call'> : never;

interface OpenListener {
  place: ListenerPlace;
  readonly kind: ListenerKind;
}

interface Waiting {
  readonly worker: Worker;
  resolve(port: number | undefined): void;
  reject(error: Error): void;
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
  readonly #wishes = new Map<string, EgressWish>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #setting: EgressSetting;
  #worker: Worker | null = null;
  #lastCall = 0;

  constructor(setting: EgressSetting, log: (message: string) => void) {
    this.#setting = setting;
    this.#log = log;
  }

  /**
   * Opens a way out for a browser, at a path in place of whatever an earlier service left there, or at a port. Answers the
   * port, where it is one.
   * @throws UNAVAILABLE; the lease must be closed all the same
   */
  async open(leaseId: string, place: ListenerPlace, kind: ListenerKind): Promise<number | undefined> {
    const listeners = this.#listeners.get(leaseId) ?? [];
    const listener: OpenListener = { place, kind };
    listeners.push(listener);
    this.#listeners.set(leaseId, listeners);
    this.#worker ??= this.#start();
    const port = await this.#ask({ type: 'Open', leaseId, place, kind });
    // A thread that is started again opens the same one.
    if (port !== undefined) listener.place = { port };
    return port;
  }

  /** What one browser's session wishes; it replaces an earlier wish. */
  permit(leaseId: string, wish: EgressWish): void {
    this.#wishes.set(leaseId, wish);
    this.#tell({ type: 'Permit', leaseId, wish });
  }

  /** Closes the doors of a lease and cuts what passes through. Idempotent. */
  async close(leaseId: string): Promise<void> {
    this.#wishes.delete(leaseId);
    if (!this.#listeners.delete(leaseId)) return;
    // What a thread that failed held open is closed with it.
    if (this.#listeners.size > 0) {
      await this.#ask({ type: 'Close', leaseId }).catch(() => undefined);
      return;
    }
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./gate.thread.js', import.meta.url), {
      name: 'network gate',
      // What the process was started with (loaders, inspectors, keys in its environment) is not for its threads.
      execArgv: [],
      env: {},
      workerData: this.#setting,
    });
    worker.unref();
    worker.on('message', ({ call, port, fault }: GateAnswer) => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (fault === undefined) waiting?.resolve(port);
      else waiting?.reject(new TroupeError('UNAVAILABLE', `A way out could not be opened: ${fault}`));
    });
    let cause = 'it ended';
    worker.on('error', (error) => {
      cause = sentenceOf(error);
    });
    worker.once('exit', () => this.#ended(worker, cause));
    return worker;
  }

  #ended(worker: Worker, cause: string): void {
    for (const [call, waiting] of this.#waiting) {
      // A thread that was started meanwhile has calls of its own.
      if (waiting.worker !== worker) continue;
      this.#waiting.delete(call);
      waiting.reject(new TroupeError('UNAVAILABLE', `The network gate ended: ${cause}`));
    }
    if (this.#worker !== worker) return;
    this.#log(`The network gate failed and is started again: ${cause}`);
    this.#worker = null;
    setTimeout(() => this.#restart(), RESTART_MS).unref();
  }

  #restart(): void {
    if (this.#listeners.size === 0 || this.#worker !== null) return;
    this.#worker = this.#start();
    for (const [leaseId, wish] of this.#wishes) this.#tell({ type: 'Permit', leaseId, wish });
    for (const [leaseId, listeners] of this.#listeners) {
      for (const { place, kind } of listeners) {
        this.#ask({ type: 'Open', leaseId, place, kind }).catch((error: unknown) => this.#log(sentenceOf(error)));
      }
    }
  }

  #tell(message: GateMessage): void {
    this.#worker?.postMessage(message);
  }

  #ask(message: Unnumbered<Call>): Promise<number | undefined> {
    const call = ++this.#lastCall;
    const worker = this.#worker;
    if (worker === null) return Promise.reject(new TroupeError('UNAVAILABLE', 'The network gate is being restarted'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(call);
        reject(new TroupeError('UNAVAILABLE', 'The network gate does not answer'));
      }, ANSWER_MS);
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        finish();
      };
      this.#waiting.set(call, {
        worker,
        resolve: (port) => settle(() => resolve(port)),
        reject: (error) => settle(() => reject(error)),
      });
      worker.postMessage({ ...message, call });
    });
  }
}
