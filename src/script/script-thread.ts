import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { boundedWait } from '../base/deadline.js';
import { decodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import { openWorker } from '../threads/open-worker.js';
import { endReason, threadError } from '../threads/thread-end.js';
import { noteThread } from '../threads/thread-faults.js';
import { engineWasm } from './engine/engine-wasm.js';
import type { ScriptLimits } from './limits.js';
import {
  type CallMessage,
  CONTROL,
  type ModuleBoot,
  type Outcome,
  type RunMessage,
  type ThreadBoot,
  type ThreadMessage,
} from './script-messages.js';

const MAX_INT32 = 2_147_483_647;

const NAMES = { name: 'script', part: 'scripts' };

/** Receives what a thread reports while it runs. */
export interface ThreadListener {
  called(message: CallMessage): void;
  emitted(event: SessionEvent): void;
  done(run: number, outcome: Outcome): void;
  /** The thread ended without its owner. Called once; nothing follows. */
  lost(error: TroupeError): void;
}

/** The data that every thread of a sandbox starts with. */
export interface ThreadPlan {
  readonly modules: readonly ModuleBoot[];
  /** JSON text. */
  readonly args: string;
  readonly limits: ScriptLimits;
}

/** The state of a thread, with its listeners. */
type State =
  | { readonly at: 'starting'; ready(): void; failed(error: TroupeError): void }
  | { readonly at: 'serving'; readonly listener: ThreadListener }
  | { readonly at: 'gone' };

/** A worker thread with one script engine. Its owner ends it; ending is idempotent. */
export class ScriptThread {
  readonly #worker: Worker;
  readonly #control: Int32Array;
  readonly #inbox: MessagePort;
  #state: State = { at: 'gone' };
  #ended: Promise<void> | null = null;

  /** Settles when the engine is ready. Fails with UNAVAILABLE after `limits.startMs`. */
  static async start(plan: ThreadPlan, listener: ThreadListener): Promise<ScriptThread> {
    const wasm = await engineWasm();
    const control = new Int32Array(new SharedArrayBuffer(CONTROL.LENGTH * Int32Array.BYTES_PER_ELEMENT));
    const { port1, port2 } = new MessageChannel();
    const boot: ThreadBoot = { wasm, control, inbox: port2, ...plan };
    const worker = openWorker(new URL('./script.thread.js', import.meta.url), NAMES, {
      name: 'troupe-script',
      workerData: boot,
      transferList: [port2],
      argv: [],
      stdin: false,
      // The engine has its own memory limit; this is for parsing and for messages.
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8, stackSizeMb: 32 },
    });
    const thread = new ScriptThread(worker, control, port1);
    const ms = plan.limits.startMs;
    try {
      await boundedWait<void>({ ms, late: () => startFailure(`it was not ready within ${ms} ms`) }, (ready, failed) => {
        thread.#state = { at: 'starting', ready, failed };
        return undefined;
      });
      thread.#state = { at: 'serving', listener };
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    }
  }

  private constructor(worker: Worker, control: Int32Array, inbox: MessagePort) {
    this.#worker = worker;
    this.#control = control;
    this.#inbox = inbox;
    // Only sent to. Without this the port would keep the process alive after its worker.
    inbox.unref();
    // Kept for the whole life and after it: an error of a worker without a listener would end the process.
    worker.on('message', (message: ThreadMessage) => this.#received(message));
    worker.on('error', (error) => this.#failed(endReason(error)));
    worker.on('exit', (code) => this.#failed(`it exited with code ${code}`));
  }

  run(message: RunMessage): void {
    Atomics.store(this.#control, CONTROL.PAUSED, 0);
    this.#inbox.postMessage(message);
    this.#wake();
  }

  /** Answers a host call and wakes the thread. `text` is an Answer as JSON. */
  answer(call: number, text: string): void {
    this.#inbox.postMessage({ call, text });
    this.#wake();
  }

  /** Asks the script to end. It does so at its next step, or not at all if a built-in does not return. */
  cancel(run: number): void {
    Atomics.store(this.#control, CONTROL.CANCEL, run);
    this.#wake();
  }

  /** Sets how long the clock of the running script was paused so far, in milliseconds; infinite while it is. */
  pause(ms: number): void {
    Atomics.store(this.#control, CONTROL.PAUSED, Math.ceil(Math.min(ms, MAX_INT32)));
    this.#wake();
  }

  end(): Promise<void> {
    this.#ended ??= this.#terminate();
    return this.#ended;
  }

  async #terminate(): Promise<void> {
    this.#state = { at: 'gone' };
    this.#inbox.close();
    await this.#worker.terminate();
  }

  #wake(): void {
    Atomics.add(this.#control, CONTROL.WAKE, 1);
    Atomics.notify(this.#control, CONTROL.WAKE);
  }

  #received(message: ThreadMessage): void {
    const state = this.#state;
    if (state.at === 'starting') {
      if (message.type === 'failed') state.failed(decodeError(message.error));
      else {
        noteThread(NAMES.part, null);
        state.ready();
      }
    } else if (state.at === 'serving') {
      if (message.type === 'call') state.listener.called(message);
      else if (message.type === 'event') state.listener.emitted(message.event);
      else if (message.type === 'done') state.listener.done(message.run, message.outcome);
    }
  }

  #failed(reason: string): void {
    const state = this.#state;
    this.#state = { at: 'gone' };
    if (state.at === 'starting') state.failed(startFailure(reason));
    else if (state.at === 'serving') {
      state.listener.lost(new TroupeError('SCRIPT_ERROR', `The script ended its thread: ${reason}`));
    }
  }
}

function startFailure(reason: string): TroupeError {
  const error = threadError(NAMES.name, false, reason);
  noteThread(NAMES.part, error.message);
  return error;
}
