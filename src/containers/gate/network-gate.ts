import { Worker } from 'node:worker_threads';
import { TroupeError } from '../../protocol/errors.js';
import type { DoorKind, DoorPlace } from './door.js';
import type { GateAnswer, GateMessage } from './gate-messages.js';
import type { GateSetting, GateWish } from './gate-rules.js';

/** A thread that does not answer in this time is of no use any more. */
const ANSWER_MS = 10_000;

/** So that a thread which cannot even start does not keep a core busy. */
const RESTART_MS = 100;

type Call = Extract<GateMessage, { readonly call: number }>;
type Unnumbered<T> = T extends Call ? Omit<T, 'call'> : never;

interface OpenDoor {
  readonly place: DoorPlace;
  readonly kind: DoorKind;
}

interface Waiting {
  readonly worker: Worker;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The only way out of the workers, which have no network: each has a door here, a unix socket in its folder, and what may
 * pass is decided by {@link GateRules}. Bytes flow on a thread of their own, so that pages that load much do not slow the
 * service's answers. The thread runs while there is a door. One that fails is replaced, with every door and its rules;
 * only the connections through it are cut.
 */
export class NetworkGate {
  readonly #log: (message: string) => void;
  readonly #doors = new Map<string, OpenDoor[]>();
  readonly #wishes = new Map<string, GateWish>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #setting: GateSetting;
  #worker: Worker | null = null;
  #lastCall = 0;

  constructor(setting: GateSetting, log: (message: string) => void) {
    this.#setting = setting;
    this.#log = log;
  }

  /** Opens a door, in place of any that an earlier service left there. */
  async open(leaseId: string, place: DoorPlace, kind: DoorKind): Promise<void> {
    const doors = this.#doors.get(leaseId) ?? [];
    doors.push({ place, kind });
    this.#doors.set(leaseId, doors);
    this.#worker ??= this.#start();
    await this.#ask({ type: 'Open', leaseId, place, kind });
  }

  /** What one browser's session wishes; it replaces an earlier wish. */
  permit(leaseId: string, wish: GateWish): void {
    this.#wishes.set(leaseId, wish);
    this.#tell({ type: 'Permit', leaseId, wish });
  }

  /** Closes the doors of a lease and cuts what passes through. Idempotent. */
  async close(leaseId: string): Promise<void> {
    this.#wishes.delete(leaseId);
    if (!this.#doors.delete(leaseId)) return;
    // What a thread that failed held open is closed with it.
    if (this.#doors.size > 0) return this.#ask({ type: 'Close', leaseId }).catch(() => undefined);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./gate.thread.js', import.meta.url), {
      name: 'network gate',
      workerData: this.#setting,
    });
    worker.unref();
    worker.on('message', ({ call, fault }: GateAnswer) => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (fault === undefined) waiting?.resolve();
      else waiting?.reject(new TroupeError('UNAVAILABLE', `A way out could not be opened: ${fault}`));
    });
    let cause = 'it ended';
    worker.on('error', (error) => {
      cause = String(error);
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
    if (this.#doors.size === 0 || this.#worker !== null) return;
    this.#worker = this.#start();
    for (const [leaseId, wish] of this.#wishes) this.#tell({ type: 'Permit', leaseId, wish });
    for (const [leaseId, doors] of this.#doors) {
      for (const { place, kind } of doors) {
        this.#ask({ type: 'Open', leaseId, place, kind }).catch((error: unknown) => this.#log(String(error)));
      }
    }
  }

  #tell(message: GateMessage): void {
    this.#worker?.postMessage(message);
  }

  #ask(message: Unnumbered<Call>): Promise<void> {
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
        resolve: () => settle(resolve),
        reject: (error) => settle(() => reject(error)),
      });
      worker.postMessage({ ...message, call });
    });
  }
}
