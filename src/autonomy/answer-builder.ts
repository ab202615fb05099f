import type OpenAI from 'openai';
import type { ToolCall } from '../protocol/model.js';
import type { Tokens } from '../protocol/session.js';

/** A received answer. */
export interface ModelAnswer {
  /** The text, including a refusal. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The provider's finish reason, or `cut` if we stopped reading. */
  readonly finish: string;
  readonly tokens: Tokens;
}

/** A longer answer is stopped: the model is probably looping. In characters. */
const MAX_CHARACTERS = 64 * 1024;
/** Tool calls per answer; further ones are ignored. */
const MAX_CALLS = 16;
/** For an estimate if the provider reports no usage. */
const CHARACTERS_A_TOKEN = 4;

interface OpenCall {
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/** Assembles an answer from the chunks of its stream. Tolerates providers that omit parts of the format. */
export class AnswerBuilder {
  readonly #calls: OpenCall[] = [];
  /** Calls by the provider's index. */
  readonly #byIndex = new Map<number, OpenCall>();
  #text = '';
  #characters = 0;
  #finish: string | null = null;
  #tokens: Tokens | null = null;

  /** True if the provider has marked the answer as complete. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  get tooLong(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  /** @returns the text that this chunk added */
  add(chunk: OpenAI.ChatCompletionChunk): string {
    if (chunk.usage) this.#tokens = tokensOf(chunk.usage);
    const [choice] = chunk.choices ?? [];
    if (choice === undefined) return '';
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    const delta = choice.delta ?? {};
    for (const part of delta.tool_calls ?? []) this.#addCall(part);
    const said = `${delta.content ?? ''}${delta.refusal ?? ''}`;
    this.#text += said;
    this.#characters += said.length;
    return said;
  }

  build(call: number): ModelAnswer {
    return {
      text: this.#text,
      toolCalls: this.#calls.slice(0, MAX_CALLS).map(({ id, name, text, extra }, index) => ({
        id: id === '' ? `call_${call}_${index + 1}` : id,
        name,
        arguments: text,
        ...(extra === undefined ? {} : { extra }),
      })),
      finish: this.#finish ?? 'cut',
      tokens: this.#tokens ?? {
        input: 0,
        cached: 0,
        output: Math.ceil(this.#characters / CHARACTERS_A_TOKEN),
      },
    };
  }

  #addCall(part: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall): void {
    const call = this.#callOf(part);
    call.id ||= part.id ?? '';
    call.name ||= part.function?.name ?? '';
    call.text += part.function?.arguments ?? '';
    call.extra ??= Reflect.get(part, 'extra_content') ?? undefined;
    this.#characters += part.function?.arguments?.length ?? 0;
  }

  /** Some providers give every call the index 0, or none: another id then means another call. */
  #callOf(part: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall): OpenCall {
    const index = part.index ?? 0;
    const known = this.#byIndex.get(index);
    if (known !== undefined && (!part.id || known.id === part.id || known.id === '')) return known;
    const call: OpenCall = { id: '', name: '', text: '', extra: undefined };
    this.#byIndex.set(index, call);
    this.#calls.push(call);
    return call;
  }
}

function tokensOf(usage: OpenAI.CompletionUsage): Tokens {
  return {
    input: usage.prompt_tokens ?? 0,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
  };
}
