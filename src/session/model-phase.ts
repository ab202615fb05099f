import { setMaxListeners } from 'node:events';
import type { Agent } from '../agent-js/agent.js';
import type { Secrets } from '../agent-js/secrets.js';
import { readBrief, type TaskOutline } from '../autonomy/brief.js';
import type { Conversation } from '../autonomy/conversation.js';
import { ConversationRecord } from '../autonomy/conversation-record.js';
import type { Budget } from '../autonomy/judge.js';
import { Loop, type ModelEnvironment, type TaskEnd } from '../autonomy/loop.js';
import { Model } from '../autonomy/model.js';
import { type LoopClock, ModelCaller } from '../autonomy/model-caller.js';
import { systemPrompt, taskMessage } from '../autonomy/prompt.js';
import type { ScriptOutcome } from '../autonomy/tool-answers.js';
import { pause, stretched, Wakeups } from '../base/deadline.js';
import type { ModelChoice } from '../config/models.js';
import { decodeError, type ErrorBody, encodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import { HeldDeadline } from './held-deadline.js';

/**
 * Everything that the model phase of a task needs. Contains provider keys, so it is sent to the actor and nowhere else.
 */
export interface ModelTask {
  /** The one to use, then those to fall back on. */
  readonly models: readonly ModelChoice[];
  readonly outline: TaskOutline;
  readonly budget: Budget;
  /** The conversation so far, if this phase began in an earlier run. */
  readonly known: Conversation;
  /** The browser is a new one, so the page that the conversation is about is gone. */
  readonly freshBrowser: boolean;
  /** What is left of the attempt's time limit. */
  readonly timeoutMs: number;
  /** The time limit of one script of the model. */
  readonly evalMs: number;
}

/** What the phase gets from the session. */
export interface ModelDependencies {
  readonly flowsDir: string;
  readonly agent: Agent;
  readonly secrets: Secrets;
  emit(event: SessionEvent): void;
  /** Queues and runs a script of the model, and passes on what it writes to its console. */
  evaluate(source: string, timeoutMs: number, signal: AbortSignal, onConsole: (line: string) => void): Promise<string>;
  /** How long scripts have waited for people so far, in milliseconds. */
  heldMs(): number;
  /** Waits while a person has control; see {@link ModelEnvironment}. */
  waitForControl(signal: AbortSignal): Promise<number>;
  resumeFlow(
    how: Parameters<ModelEnvironment['resumeFlow']>[0],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<string>;
}

/** The longest answer of a model, and the longest pause within it. */
const MODEL_BOUNDS = { answerMs: 180_000, silenceMs: 90_000 };
const LOOK_MS = 10_000;
/** Lines of a script's console output that its model gets. */
const MAX_CONSOLE_LINES = 50;

const CLOCK: LoopClock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    await pause(ms, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  },
  random: Math.random,
};

/** The part of a session in which a model works. Ends by itself, at the session's time limit, or with the session. */
export class ModelPhase {
  readonly #deps: ModelDependencies;
  readonly #recordings = new Wakeups();
  #recorded = 0;
  #unrecorded: ErrorBody | null = null;

  constructor(deps: ModelDependencies) {
    this.#deps = deps;
  }

  /** The model's answer with this number is on disk, or why it cannot be. */
  answerRecorded(call: number, error: ErrorBody | null): void {
    if (error === null) this.#recorded = Math.max(this.#recorded, call);
    else this.#unrecorded = error;
    this.#recordings.wake();
  }

  /** @throws the signal's reason if the session ends meanwhile */
  async run(order: ModelTask, signal: AbortSignal): Promise<TaskEnd> {
    const late = () => new TroupeError('HARD_TIMEOUT', 'The session reached its time limit while the model worked');
    const deadline = new HeldDeadline(order.timeoutMs, this.#deps.heldMs);
    return deadline.bound(signal, late, async (bounds) => {
      // A look waits for all frames of its page concurrently, with one listener each.
      setMaxListeners(0, bounds);
      try {
        const opening = () => this.#opening(order);
        return await this.#loop(order, deadline, bounds).run({ opening, freshBrowser: order.freshBrowser }, bounds);
      } catch (error) {
        signal.throwIfAborted();
        return { success: false, summary: null, error: encodeError(bounds.aborted ? bounds.reason : error) };
      }
    });
  }

  #loop({ models, budget, known, evalMs }: ModelTask, deadline: HeldDeadline, signal: AbortSignal): Loop {
    const { secrets } = this.#deps;
    const record = new ConversationRecord(known, this.#deps.emit);
    const caller = new ModelCaller({
      models: models.map((choice) => new Model(choice, MODEL_BOUNDS)),
      emit: record.emit,
      clock: CLOCK,
    });
    const workplace: ModelEnvironment = {
      evaluate: (source, asked) => {
        const console: string[] = [];
        const hear = (line: string) => {
          if (console.length < MAX_CONSOLE_LINES) console.push(line);
        };
        const work = secrets.hideJson(() => this.#deps.evaluate(source, evalMs, asked, hear));
        return outcomeOf(work, console, signal);
      },
      resumeFlow: (how, asked) => {
        const leftMs = Math.max(1, deadline.leftMs);
        return outcomeOf(
          secrets.hide(() => this.#deps.resumeFlow(how, leftMs, asked)),
          [],
          signal,
        );
      },
      waitForControl: (asked) => this.#deps.waitForControl(asked),
      look: (asked) =>
        secrets.hide(() => this.#deps.agent.see({ deadline: performance.now() + stretched(LOOK_MS), signal: asked })),
    };
    return new Loop({
      record,
      caller,
      environment: workplace,
      budget,
      recorded: (call) => this.#untilRecorded(call, signal),
    });
  }

  async #opening({ models, outline }: ModelTask): Promise<{ model: string; system: string; task: string }> {
    // A prompt or a flow file may contain a secret's value.
    const brief = this.#deps.secrets.redact(await readBrief(this.#deps.flowsDir, outline));
    return { model: models[0]?.id ?? '', system: systemPrompt(brief), task: taskMessage(brief) };
  }

  /** Normally this takes milliseconds. While the database is away, it takes as long as that: the signal bounds it. */
  async #untilRecorded(call: number, signal: AbortSignal): Promise<void> {
    while (call > this.#recorded) {
      signal.throwIfAborted();
      if (this.#unrecorded !== null) throw decodeError(this.#unrecorded);
      await this.#recordings.next(signal);
    }
  }
}

/** A script's outcome, for the model. Rethrows what ends the phase. */
async function outcomeOf(
  json: Promise<string>,
  console: readonly string[],
  signal: AbortSignal,
): Promise<ScriptOutcome> {
  try {
    return { end: { kind: 'result', json: await json }, console };
  } catch (error) {
    signal.throwIfAborted();
    return { end: { kind: 'error', error: encodeError(error) }, console };
  }
}
