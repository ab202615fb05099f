import { encodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import type { Tokens } from '../protocol/session.js';
import type { ModelAnswer } from './answer-builder.js';
import type { Model } from './model.js';
import type { Message, Tool } from './wire.js';

/** Time and random numbers; replaceable in tests. */
export interface LoopClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  random(): number;
}

/** Attempts per answer and model. */
const MAX_ATTEMPTS = 5;
/** The delay before the second attempt; doubled for each further one. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A provider that asks for a longer delay is given up, because a browser stays open meanwhile. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The shortest time between two events with parts of an answer's text. */
const TEXT_EVERY_MS = 200;
const NO_TOKENS: Tokens = { input: 0, cached: 0, output: 0 };

/**
 * Gets answers reliably: repeats a request after 429, 5xx, a lost connection, a stall, or an incomplete answer. Waits
 * as
 * long as the provider asks, up to a minute, or with exponential backoff, and permanently switches to the next model if
 * one fails. Emits an event before and after each attempt.
 */
export class ModelCaller {
  readonly #models: readonly Model[];
  readonly #emit: (event: SessionEvent) => void;
  readonly #clock: LoopClock;
  #current = 0;

  /** @param options.models at least one; the first that works is used */
  constructor(options: {
    readonly models: readonly Model[];
    readonly emit: (event: SessionEvent) => void;
    readonly clock: LoopClock;
  }) {
    this.#models = options.models;
    this.#emit = options.emit;
    this.#clock = options.clock;
  }

  /**
   * @param call the answer's number
   * @throws MODEL_ERROR of the last model if none answers; the signal's reason if it is aborted
   */
  async call(
    call: number,
    order: { readonly messages: readonly Message[]; readonly tools: readonly Tool[]; readonly signal: AbortSignal },
  ): Promise<ModelAnswer> {
    for (let attempt = 1; ; attempt++) {
      const model = this.#models[this.#current];
      if (model === undefined) throw new RangeError('No model was given');
      const outcome = await this.#attempt(model, { ...order, call, attempt });
      if (outcome.kind === 'answered') return outcome.answer;
      const { error, retryInMs } = outcome;
      if (retryInMs !== null) {
        await this.#clock.sleep(retryInMs, order.signal);
        continue;
      }
      if (this.#current + 1 >= this.#models.length) throw error;
      this.#current += 1;
      attempt = 0;
    }
  }

  async #attempt(
    model: Model,
    order: {
      readonly messages: readonly Message[];
      readonly tools: readonly Tool[];
      readonly signal: AbortSignal;
      readonly call: number;
      readonly attempt: number;
    },
  ): Promise<
    | { readonly kind: 'answered'; readonly answer: ModelAnswer }
    | { readonly kind: 'failed'; readonly error: unknown; readonly retryInMs: number | null }
  > {
    const { call, attempt } = order;
    const about = { call, attempt, model: model.choice.id };
    this.#emit({ type: 'ModelCallStarted', data: about });
    const startedAt = this.#clock.now();
    const speech = new TextEvents(call, this.#emit, this.#clock);
    const end = () => {
      speech.flush();
      return { ...about, durationMs: Math.round(this.#clock.now() - startedAt) };
    };
    try {
      const answer = await model.ask({ ...order, onText: (text) => speech.add(text) });
      const { text, toolCalls, finish, tokens } = answer;
      this.#emit({
        type: 'ModelCallFinished',
        data: { ...end(), text, toolCalls: [...toolCalls], finish, tokens },
      });
      return { kind: 'answered', answer };
    } catch (thrown) {
      const error = order.signal.aborted ? thrown : withWaitReason(thrown);
      const retryInMs = order.signal.aborted ? null : this.#waitAfter(error, attempt);
      const failed = { text: '', toolCalls: [], finish: null, tokens: NO_TOKENS, error: encodeError(error), retryInMs };
      this.#emit({ type: 'ModelCallFinished', data: { ...end(), ...failed } });
      order.signal.throwIfAborted();
      return { kind: 'failed', error, retryInMs };
    }
  }

  /** The delay before the next attempt with this model; null if there is none. */
  #waitAfter(error: unknown, attempt: number): number | null {
    const details = encodeError(error).details ?? {};
    if (details.retryable !== true || attempt >= MAX_ATTEMPTS) return null;
    const asked = details.retryAfterMs;
    if (typeof asked === 'number') return asked > MAX_RETRY_AFTER_MS ? null : asked;
    const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
    return Math.round(wait * (0.75 + this.#clock.random() / 2));
  }
}

/** Adds the reason to the error's message if its provider asked for a longer delay than is allowed. */
function withWaitReason(error: unknown): unknown {
  const { code, error: sentence, details } = encodeError(error);
  const asked = details?.retryAfterMs;
  if (typeof asked !== 'number' || asked <= MAX_RETRY_AFTER_MS) return error;
  const seconds = Math.ceil(asked / 1000);
  const why = `its provider asks to wait ${seconds} s, longer than the limit of ${MAX_RETRY_AFTER_MS / 1000} s`;
  return new TroupeError(code, `${sentence}; ${why}`, details, { cause: error });
}

/** Combines parts of an answer's text into few events that are still emitted while the answer arrives. */
class TextEvents {
  readonly #call: number;
  readonly #emit: (event: SessionEvent) => void;
  readonly #clock: LoopClock;
  #text = '';
  #emittedAt: number;

  constructor(call: number, emit: (event: SessionEvent) => void, clock: LoopClock) {
    this.#call = call;
    this.#emit = emit;
    this.#clock = clock;
    this.#emittedAt = clock.now();
  }

  add(text: string): void {
    this.#text += text;
    if (this.#clock.now() - this.#emittedAt >= TEXT_EVERY_MS) this.flush();
  }

  flush(): void {
    if (this.#text === '') return;
    this.#emit({ type: 'ModelTextReceived', data: { call: this.#call, text: this.#text } });
    this.#text = '';
    this.#emittedAt = this.#clock.now();
  }
}
