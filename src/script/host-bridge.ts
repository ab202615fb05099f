import { performance } from 'node:perf_hooks';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import type { CallSite } from './host-module.js';
import { type AnswerMessage, CONTROL, type RunMessage, type ThreadMessage } from './script-messages.js';

/** Why a script must end. */
export type Stop = 'deadline' | 'cancelled';

/** Events that may be unread by the handle; beyond this the thread waits until it has taken them. */
const MAX_UNREAD_EVENTS = 200;

/**
 * The thread's side of the connection: it sleeps until a run message or an answer arrives, or until the script must
 * end.
 */
export class HostBridge {
  readonly #control: Int32Array;
  readonly #inbox: MessagePort;
  readonly #send: (message: ThreadMessage) => void;
  #run = 0;
  #deadline = 0;
  #call = 0;
  #unread = 0;
  /** The WAKE value that `next` has seen. */
  #seen = 0;
  #stop: Stop | null = null;

  constructor(control: Int32Array, inbox: MessagePort, send: (message: ThreadMessage) => void) {
    this.#control = control;
    this.#inbox = inbox;
    this.#send = send;
  }

  begin(run: number, timeoutMs: number): void {
    this.#run = run;
    this.#deadline = performance.now() + timeoutMs;
    this.#stop = null;
    this.#unread = 0;
  }

  /** Waits for the next run message, without a deadline. */
  next(): RunMessage {
    while (true) {
      const wake = Atomics.load(this.#control, CONTROL.WAKE);
      if (wake === this.#seen) {
        Atomics.wait(this.#control, CONTROL.WAKE, wake);
        continue;
      }
      this.#seen = wake;
      for (let got = receiveMessageOnPort(this.#inbox); got !== undefined; got = receiveMessageOnPort(this.#inbox)) {
        // An answer to a call of an earlier, stopped run is dropped here.
        const order: unknown = got.message;
        if (isRun(order)) return order;
      }
    }
  }

  /** The result of the last call of {@link stop}. */
  get stopped(): Stop | null {
    return this.#stop;
  }

  /**
   * Why the script of this run must end; null if it may continue. Once set it stays. Called by the interrupt handler.
   */
  stop(): Stop | null {
    if (this.#stop === null) {
      if (Atomics.load(this.#control, CONTROL.CANCEL) === this.#run) this.#stop = 'cancelled';
      else if (this.#leftMs() <= 0) this.#stop = 'deadline';
    }
    return this.#stop;
  }

  /**
   * Makes a host call and returns the text of its answer.
   * @throws EVAL_TIMEOUT if the script must end. If the script catches it, the next interrupt ends the script all the
   *   same.
   */
  call(target: string, args: string, site: CallSite): string {
    if (this.stop() !== null) throw ending();
    this.#call += 1;
    const call = this.#call;
    this.#send({ type: 'call', run: this.#run, call, target, args, site });
    this.#unread = 0;
    while (true) {
      const wake = Atomics.load(this.#control, CONTROL.WAKE);
      for (let got = receiveMessageOnPort(this.#inbox); got !== undefined; got = receiveMessageOnPort(this.#inbox)) {
        // An answer to a call of an earlier, stopped run is dropped here.
        const answer: unknown = got.message;
        if (isAnswer(answer) && answer.call === call) return answer.text;
      }
      if (this.stop() !== null) throw ending();
      Atomics.wait(this.#control, CONTROL.WAKE, wake, Math.max(1, this.#leftMs()));
    }
  }

  /** Sends an event without waiting, unless too many are unread. */
  emit(event: SessionEvent): void {
    if (this.#unread >= MAX_UNREAD_EVENTS) this.call('', '[]', NOWHERE);
    this.#unread += 1;
    this.#send({ type: 'event', event });
  }

  #leftMs(): number {
    return this.#deadline + Atomics.load(this.#control, CONTROL.PAUSED) - performance.now();
  }
}

const NOWHERE: CallSite = { kind: 'script', flow: null, flowRun: null, line: null, column: null };

function ending(): TroupeError {
  return new TroupeError('EVAL_TIMEOUT', 'The script must end');
}

function isRun(value: unknown): value is RunMessage {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'run';
}

function isAnswer(value: unknown): value is AnswerMessage {
  return typeof value === 'object' && value !== null && 'call' in value && 'text' in value;
}
