import type { EventData } from '../protocol/events.js';
import type { ToolCall } from '../protocol/model.js';
import type { Report } from '../protocol/report/report.js';
import { shorten } from './format.js';

type Call = Report['modelCalls'][number];

const MAX_CALLS = 1_000;
/** Longer texts are truncated; the transcript has them in full. */
const MAX_TEXT = 4_000;

/** Collects the model's calls for the report. */
export class ModelCalls {
  readonly #calls: Call[] = [];
  /** Ids of the last answer's tool calls, in the order of `tools`. */
  #ids: readonly string[] = [];

  get all(): readonly Call[] {
    return this.#calls;
  }

  /** @param at when its end was emitted, ISO 8601 */
  finished(data: EventData<'ModelCallFinished'>, at: string, attempt: { attempt?: number }): void {
    if (this.#calls.length >= MAX_CALLS) return;
    const { call, model, durationMs, text, toolCalls, tokens, error } = data;
    this.#ids = toolCalls.map(({ id }) => id);
    this.#calls.push({
      call,
      model,
      startedAt: new Date(Date.parse(at) - durationMs).toISOString(),
      durationMs,
      text: shorten(text, MAX_TEXT),
      tools: toolCalls.map((one) => ({ name: one.name, source: sourceOf(one), answer: null })),
      nudges: [],
      tokens,
      ...(error === undefined ? {} : { error }),
      ...attempt,
    });
  }

  answered({ call, id, ok, text }: EventData<'ToolAnswered'>): void {
    const last = this.#calls.at(-1);
    const tool = last?.call === call ? last.tools[this.#ids.indexOf(id)] : undefined;
    if (tool !== undefined) tool.answer = { ok, text: shorten(text, MAX_TEXT) };
  }

  nudged({ call, text }: EventData<'ModelNudged'>): void {
    const last = this.#calls.at(-1);
    if (last?.call === call) last.nudges.push(shorten(text, MAX_TEXT));
  }
}

/** The script of a call, or its raw arguments if there is none. */
function sourceOf({ arguments: text }: ToolCall): string {
  try {
    const js: unknown = Reflect.get(Object(JSON.parse(text)), 'js');
    if (typeof js === 'string') return shorten(js, MAX_TEXT);
  } catch {
    // Models may write anything: show it unchanged.
  }
  return shorten(text, MAX_TEXT);
}
