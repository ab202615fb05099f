import type OpenAI from 'openai';
import type { ToolCall } from '../protocol/model.js';
import type { Tokens } from '../protocol/session.js';

/** An answer as it was received. */
export interface ModelAnswer {
  /** What it says to people; a refusal too. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The provider's word for its end, or `cut` where we stopped to listen. */
  readonly finish: string;
  readonly tokens: Tokens;
}

/** An answer longer than this is stopped: a model that goes on and on has lost its way. In characters. */
const MAX_CHARACTERS = 64 * 1024;
/** Tool calls of one answer; further ones are left out. */
const MAX_CALLS = 16;
/** For answers whose usage nobody told us. */
const CHARACTERS_A_TOKEN = 4;

interface OpenCall {
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/** Puts an answer together from the pieces of its stream, whatever of the format a provider leaves out. */
export class AnswerBuilder {
  readonly #calls: OpenCall[] = [];
  /** Calls by the index that the provider gives them. */
  readonly #byIndex = new Map<number, OpenCall>();
  #text = '';
  #characters = 0;
  #finish: string | null = null;
  #tokens: Tokens | null = null;

  /** True when the provider has said that the answer is whole. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  get tooLong(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  /** @returns the text that this piece added */
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

  /** Some providers give every call the index 0, or none: another id is another call then. */
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
