import type OpenAI from 'openai';
import { startLimit, stretched } from '../base/deadline.js';
import type { ModelChoice } from '../config/models.js';
import { TroupeError } from '../protocol/errors.js';
import { AnswerBuilder, type ModelAnswer } from './answer-builder.js';
import { type Message, type Tool, wireMessages, wireTools } from './wire.js';

/** How long a model may take, in milliseconds. */
export interface ModelBounds {
  /** For a whole answer. */
  readonly answerMs: number;
  /** From one chunk to the next. */
  readonly silenceMs: number;
}

/** One request. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The number of the answer, used for tool calls without an id. */
  readonly call: number;
  readonly signal: AbortSignal;
  onText(text: string): void;
}

/** A placeholder for servers that need no key. */
const NO_KEY = 'none';

/**
 * A model, called through the chat completions API. Makes one request; retries are the caller's responsibility.
 *
 * @throws MODEL_ERROR with the details `status` (null without a response), `retryable`, and `retryAfterMs` if the
 * provider
 *  sent it. The signal's reason if it was aborted.
 */
export class Model {
  readonly choice: ModelChoice;
  readonly #bounds: ModelBounds;
  #client: OpenAI | undefined;
  /** False once the provider has rejected the option. */
  #asksUsage = true;

  constructor(choice: ModelChoice, bounds: ModelBounds) {
    this.choice = choice;
    this.#bounds = bounds;
  }

  async ask(request: ModelRequest): Promise<ModelAnswer> {
    const client = await this.#connect();
    const deadlines = new Deadlines(this.#bounds, request.signal);
    try {
      return await this.#receive(client, request, deadlines);
    } catch (error) {
      request.signal.throwIfAborted();
      throw deadlines.fault ?? modelError(this.choice, error);
    } finally {
      deadlines.stop();
    }
  }

  async #receive(client: OpenAI, order: ModelRequest, deadlines: Deadlines): Promise<ModelAnswer> {
    const builder = new AnswerBuilder();
    const stream = await this.#open(client, order, deadlines.signal);
    for await (const chunk of stream) {
      deadlines.restartSilence();
      const text = builder.add(chunk);
      if (text !== '') order.onText(text);
      // Returning from the loop ends the request.
      if (builder.tooLong) return builder.build(order.call);
    }
    if (!builder.finished) throw connectionError(this.choice, 'its answer ended early');
    return builder.build(order.call);
  }

  async #open(
    client: OpenAI,
    { messages, tools }: ModelRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<OpenAI.ChatCompletionChunk>> {
    const request = {
      model: this.choice.name,
      messages: wireMessages(messages),
      tools: wireTools(tools),
      stream: true,
    } as const;
    if (this.#asksUsage) {
      try {
        return await client.chat.completions.create(
          { ...request, stream_options: { include_usage: true } },
          { signal },
        );
      } catch (error) {
        // Strict providers such as Mistral reject the member by name, and send their usage anyway.
        if (!/stream_options|include_usage/.test(String(error))) throw error;
        this.#asksUsage = false;
      }
    }
    return client.chat.completions.create(request, { signal });
  }

  /** Loads the package with the first request, because most sessions need no model. */
  async #connect(): Promise<OpenAI> {
    if (this.#client !== undefined) return this.#client;
    const { OpenAI } = await import('openai');
    const { baseURL, apiKey } = this.choice;
    this.#client = new OpenAI({
      baseURL,
      apiKey: apiKey ?? NO_KEY,
      // The package would read omitted options from the environment.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      timeout: stretched(this.#bounds.answerMs),
    });
    return this.#client;
  }
}

/** Ends a request that takes too long, or whose stream stalls. */
class Deadlines {
  readonly #bounds: ModelBounds;
  readonly #late = new AbortController();
  readonly #cancelAnswer: () => void;
  #cancelSilence: () => void;
  readonly signal: AbortSignal;
  #fault: TroupeError | null = null;

  constructor(bounds: ModelBounds, outer: AbortSignal) {
    this.#bounds = bounds;
    this.signal = AbortSignal.any([outer, this.#late.signal]);
    this.#cancelAnswer = startLimit(bounds.answerMs, () => this.#end(`did not answer within ${bounds.answerMs} ms`));
    this.#cancelSilence = this.#listen();
  }

  /** The error of a request that was ended here. */
  get fault(): TroupeError | null {
    return this.#fault;
  }

  restartSilence(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#listen();
  }

  stop(): void {
    this.#cancelAnswer();
    this.#cancelSilence();
  }

  #listen(): () => void {
    const { silenceMs } = this.#bounds;
    return startLimit(silenceMs, () => this.#end(`said nothing for ${silenceMs} ms`));
  }

  #end(why: string): void {
    this.#fault = new TroupeError('MODEL_ERROR', `The model ${why}`, { status: null, retryable: true });
    this.#late.abort();
  }
}

function connectionError(choice: ModelChoice, why: string): TroupeError {
  return new TroupeError('MODEL_ERROR', `${choice.id}: ${why}`, { status: null, retryable: true });
}

/** Converts the package's error. Its class contains no more information than the status. */
function modelError(choice: ModelChoice, error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  const status: unknown = error instanceof Error ? Reflect.get(error, 'status') : undefined;
  const text = error instanceof Error ? error.message : String(error);
  if (typeof status !== 'number') return connectionError(choice, causeOf(error) ?? text);
  const retryable = status === 408 || status === 409 || status === 429 || status >= 500;
  const headers: unknown = error instanceof Error ? Reflect.get(error, 'headers') : undefined;
  const retryAfterMs = headers instanceof Headers ? retryAfter(headers) : null;
  return new TroupeError('MODEL_ERROR', `${choice.id}: ${text.slice(0, 500)}`, {
    status,
    retryable,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** The root cause of a connection error, such as ECONNREFUSED. */
function causeOf(error: unknown): string | null {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error ? cause.message : null;
}

/** Parses seconds or an instant (RFC 9110, section 10.2.3). */
function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : null;
}
