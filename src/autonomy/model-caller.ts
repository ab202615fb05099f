import { encodeError, TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import type { Tokens } from '../protocol/session.js';
import type { ModelAnswer } from './answer-builder.js';
import type { Model } from './model.js';
import type { Message, Tool } from './wire.js';

/** Time and chance, so that a test can have its own. */
export interface LoopClock {
  /** Milliseconds that only rise. */
  now(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  random(): number;
}

/** Tries at one answer with one model. */
const MAX_ATTEMPTS = 5;
/** The wait before the second try; it doubles from try to try. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A provider that asks to be left alone for longer is given up: a browser is open all the while. */
const PATIENCE_MS = 60_000;
/** What the model says is told on in pieces of at least so much time. */
const TEXT_EVERY_MS = 200;
const NO_TOKENS: Tokens = { input: 0, cached: 0, output: 0 };

/**
 * Gets answers, whatever providers do: it tries again after 429, 5xx, a lost connection, silence and an answer that broke
 * off, waits as long as the provider asks, a minute at most, or twice as long each time, and goes over to the next model for
 * good when one cannot be had. Every try is told of, before and after.
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
   * @throws MODEL_ERROR of the last model when none answers; the signal's reason when it is aborted
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
    const speech = new Speech(call, this.#emit, this.#clock);
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
      const error = order.signal.aborted ? thrown : namingWait(thrown);
      const retryInMs = order.signal.aborted ? null : this.#waitAfter(error, attempt);
      const failed = { text: '', toolCalls: [], finish: null, tokens: NO_TOKENS, error: encodeError(error), retryInMs };
      this.#emit({ type: 'ModelCallFinished', data: { ...end(), ...failed } });
      order.signal.throwIfAborted();
      return { kind: 'failed', error, retryInMs };
    }
  }

  /** How long to wait before the next try with this model; null when there is none. */
  #waitAfter(error: unknown, attempt: number): number | null {
    const details = encodeError(error).details ?? {};
    if (details.retryable !== true || attempt >= MAX_ATTEMPTS) return null;
    const asked = details.retryAfterMs;
    if (typeof asked === 'number') return asked > PATIENCE_MS ? null : asked;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
    return Math.round(wait * (0.75 + this.#clock.random() / 2));
  }
}

/** The same error, where its provider asks for a longer wait than anyone has: in its words too. */
function namingWait(error: unknown): unknown {
  const { code, error: sentence, details } = encodeError(error);
  const asked = details?.retryAfterMs;
  if (typeof asked !== 'number' || asked <= PATIENCE_MS) return error;
  const seconds = Math.ceil(asked / 1000);
  const why = `its provider asks to wait ${seconds} s, and no more than ${PATIENCE_MS / 1000} s are waited`;
  return new TroupeError(code, `${sentence}; ${why}`, details, { cause: error });
}

/** Gathers the pieces of an answer's text, so that they are few events and still seen as they come. */
class Speech {
  readonly #call: number;
  readonly #emit: (event: SessionEvent) => void;
  readonly #clock: LoopClock;
  #text = '';
  #toldAt: number;

  constructor(call: number, emit: (event: SessionEvent) => void, clock: LoopClock) {
    this.#call = call;
    this.#emit = emit;
    this.#clock = clock;
    this.#toldAt = clock.now();
  }

  add(text: string): void {
    this.#text += text;
    if (this.#clock.now() - this.#toldAt >= TEXT_EVERY_MS) this.flush();
  }

  flush(): void {
    if (this.#text === '') return;
    this.#emit({ type: 'ModelTextReceived', data: { call: this.#call, text: this.#text } });
    this.#text = '';
    this.#toldAt = this.#clock.now();
  }
}
