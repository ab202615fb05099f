import { setMaxListeners } from 'node:events';
import type { Agent } from '../../agent-js/agent.js';
import type { Secrets } from '../../agent-js/secrets.js';
import { readBrief, type TaskOutline } from '../../autonomy/brief.js';
import type { Conversation } from '../../autonomy/conversation.js';
import { ConversationRecord } from '../../autonomy/conversation-record.js';
import type { Budget } from '../../autonomy/judge.js';
import { Loop, type TaskEnd, type Workplace } from '../../autonomy/loop.js';
import { Model } from '../../autonomy/model.js';
import { type LoopClock, ModelCaller } from '../../autonomy/model-caller.js';
import { systemPrompt, taskMessage } from '../../autonomy/prompt.js';
import type { ScriptOutcome } from '../../autonomy/tool-answers.js';
import { pause, Wakeups, withSignal } from '../../base/deadline.js';
import type { ModelChoice } from '../../config/models.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';

/** Everything that the model phase of a task needs to know. Holds keys: it goes to the actor and nowhere else. */
export interface ModelOrder {
  /** The one to use, then those to fall back on. */
  readonly models: readonly ModelChoice[];
  readonly outline: TaskOutline;
  readonly budget: Budget;
  /** What was said before, where this phase began already. */
  readonly known: Conversation;
  /** The page that the conversation is about is gone, and the browser is another one. */
  readonly freshBrowser: boolean;
  /** What is left of the attempt's longest time. */
  readonly timeoutMs: number;
  /** One script of the model. */
  readonly evalMs: number;
}

/** What the session lends to the phase. */
export interface ModelDependencies {
  readonly flowsDir: string;
  readonly agent: Agent;
  readonly secrets: Secrets;
  emit(event: SessionEvent): void;
  /** Runs a script of the model when its turn comes, and tells what it writes to its console. */
  evaluate(source: string, timeoutMs: number, signal: AbortSignal, onConsole: (line: string) => void): Promise<string>;
  /** Waits while a person has control; see {@link Workplace}. */
  agentsTurn(signal: AbortSignal): Promise<number>;
  resumeFlow(how: Parameters<Workplace['resumeFlow']>[0], timeoutMs: number, signal: AbortSignal): Promise<string>;
}

/** An answer of a model may take so long, and be silent so long. */
const MODEL_BOUNDS = { answerMs: 180_000, silenceMs: 90_000 };
/** The journal keeps up within milliseconds, or not at all. */
const RECORD_MS = 30_000;
const LOOK_MS = 10_000;
/** Lines of a script's console that its model is told. */
const MAX_CONSOLE_LINES = 50;

const CLOCK: LoopClock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    await pause(ms, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  },
  random: Math.random,
};

/** The part of a session in which a model works: ends by itself, by the session's time, or with the session. */
export class ModelPhase {
  readonly #deps: ModelDependencies;
  readonly #recordings = new Wakeups();
  #recorded = 0;

  constructor(deps: ModelDependencies) {
    this.#deps = deps;
  }

  /** The model's answer of that number is on disk. */
  answerRecorded(call: number): void {
    this.#recorded = Math.max(this.#recorded, call);
    this.#recordings.wake();
  }

  /** @throws the signal's reason when the session ends meanwhile */
  async run(order: ModelOrder, signal: AbortSignal): Promise<TaskEnd> {
    const late = () => new TroupeError('HARD_TIMEOUT', 'The time of the session was up while the model worked');
    return withSignal({ signals: [signal], ms: order.timeoutMs, late }, async (bounds) => {
      // A look waits for all frames of its page at once.
      setMaxListeners(0, bounds);
      try {
        const opening = () => this.#opening(order);
        return await this.#loop(order, bounds).run({ opening, freshBrowser: order.freshBrowser }, bounds);
      } catch (error) {
        signal.throwIfAborted();
        return { success: false, summary: null, error: encodeError(bounds.aborted ? bounds.reason : error) };
      }
    });
  }

  #loop({ models, budget, known, timeoutMs, evalMs }: ModelOrder, signal: AbortSignal): Loop {
    const { secrets } = this.#deps;
    const record = new ConversationRecord(known, this.#deps.emit);
    const caller = new ModelCaller({
      models: models.map((choice) => new Model(choice, MODEL_BOUNDS)),
      emit: record.emit,
      clock: CLOCK,
    });
    const deadline = performance.now() + timeoutMs;
    const workplace: Workplace = {
      evaluate: (source, asked) => {
        const console: string[] = [];
        const hear = (line: string) => {
          if (console.length < MAX_CONSOLE_LINES) console.push(line);
        };
        const work = secrets.hideJson(() => this.#deps.evaluate(source, evalMs, asked, hear));
        return outcomeOf(work, console, signal);
      },
      resumeFlow: (how, asked) => {
        const leftMs = Math.max(1, deadline - performance.now());
        return outcomeOf(
          secrets.hide(() => this.#deps.resumeFlow(how, leftMs, asked)),
          [],
          signal,
        );
      },
      agentsTurn: (asked) => this.#deps.agentsTurn(asked),
      look: (asked) =>
        secrets.hide(() => this.#deps.agent.see({ deadline: performance.now() + LOOK_MS, signal: asked })),
    };
    return new Loop({ record, caller, workplace, budget, recorded: (call) => this.#untilRecorded(call, signal) });
  }

  async #opening({ models, outline }: ModelOrder): Promise<{ model: string; system: string; task: string }> {
    // A prompt or a file may name a value that it should not.
    const brief = this.#deps.secrets.redact(await readBrief(this.#deps.flowsDir, outline));
    return { model: models[0]?.id ?? '', system: systemPrompt(brief), task: taskMessage(brief) };
  }

  async #untilRecorded(call: number, signal: AbortSignal): Promise<void> {
    const late = () => new TroupeError('UNAVAILABLE', 'The journal does not take what the model says');
    await withSignal({ signals: [signal], ms: RECORD_MS, late }, async (given) => {
      while (call > this.#recorded) {
        given.throwIfAborted();
        await this.#recordings.next(given);
      }
    });
  }
}

/** How a script ended, for the model. What ends the phase is thrown on. */
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
