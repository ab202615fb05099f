import { createHash } from 'node:crypto';
import type { WholeLook } from '../agent-js/look/look.js';
import { assertNever } from '../base/assert-never.js';
import { type ErrorBody, encodeError } from '../protocol/errors.js';
import type { EventData } from '../protocol/events.js';
import type { PageText, ToolCall } from '../protocol/model.js';
import { messagesOf } from './context.js';
import type { Turn } from './conversation.js';
import type { ConversationRecord } from './conversation-record.js';
import { type Budget, judge } from './judge.js';
import type { ModelCaller } from './model-caller.js';
import { viewPage } from './page-view.js';
import { errorText, outcomeText, type ScriptOutcome, UNKNOWN_OUTCOME } from './tool-answers.js';
import { type Intent, intentOf, type ResumeRequest, TOOLS } from './tools.js';

/** What the loop works with: a session's browser and scripts. */
export interface ModelEnvironment {
  /** Runs a script of the model. Does not reject if the script fails. */
  evaluate(source: string, signal: AbortSignal): Promise<ScriptOutcome>;
  /** Continues the failed flow; see `Flow.resume` in the prompt. */
  resumeFlow(how: ResumeRequest, signal: AbortSignal): Promise<ScriptOutcome>;
  /** Looks at the current page. */
  look(signal: AbortSignal): Promise<WholeLook>;
  /** Waits while a person has control; returns how often a person has had it. */
  waitForControl(signal: AbortSignal): Promise<number>;
}

/** The start of a conversation. */
export interface Opening {
  readonly model: string;
  readonly system: string;
  readonly task: string;
}

export interface LoopParts {
  /** Contains the earlier conversation if the session has been in this phase before. */
  readonly record: ConversationRecord;
  /** Emits to the same record. */
  readonly caller: ModelCaller;
  readonly environment: ModelEnvironment;
  readonly budget: Budget;
  /** Resolves when the answer with this number is on disk. Its tool calls are not executed before. */
  recorded(call: number): Promise<void>;
}

/** The outcome of a task that a model worked on. */
export type TaskEnd =
  | { readonly success: true; readonly summary: string }
  | { readonly success: false; readonly summary: string | null; readonly error: ErrorBody };

/**
 * The model loop: asks the model, executes its tool calls, and sends it the results, until it calls `done` or reaches a
 * limit. The loop's only state is the conversation, which changes only by events, so it can continue from the journal
 * after the service was killed.
 *
 *     asked --answer--> recorded --tool call by tool call--> answered --judged--> asked
 *                                        `--done--> ended       `--> ended
 */
export class Loop {
  readonly #parts: LoopParts;
  /** How often a person has had control, as far as the model was notified. */
  #handovers: number;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#handovers = parts.record.conversation.handedOver ? -1 : 0;
  }

  get #conversation() {
    return this.#parts.record.conversation;
  }

  /**
   * @param how.freshBrowser the earlier conversation was about a page that is gone
   * @throws MODEL_ERROR if no model can be reached; the signal's reason if it is aborted
   */
  async run(
    { opening, freshBrowser = false }: { readonly opening: () => Promise<Opening>; readonly freshBrowser?: boolean },
    signal: AbortSignal,
  ): Promise<TaskEnd> {
    const { start, turns } = this.#conversation;
    // If the model has not answered yet, start again with the current page.
    if (start === null || (freshBrowser && turns.length === 0)) await this.#begin(await opening(), signal);
    const left = await this.#finishLastTurn(signal);
    if (left !== null) return left;
    if (freshBrowser && turns.length > 0) await this.#reportPage(FRESH_BROWSER, signal);
    for (;;) {
      const judgement = judge(this.#conversation, this.#parts.budget);
      if (judgement.kind === 'end') return failed(judgement.code, judgement.why);
      if (judgement.kind === 'nudge') this.#nudge(judgement.text);
      const ended = await this.#turn(signal);
      if (ended !== null) return ended;
    }
  }

  async #begin({ model, system, task }: Opening, signal: AbortSignal): Promise<void> {
    const { maxIterations, maxTokens } = this.#parts.budget;
    await this.#controlReturned(signal);
    const { page } = await this.#look(signal);
    this.#parts.record.emit({ type: 'ModelStarted', data: { model, maxIterations, maxTokens, system, task, page } });
  }

  /** After a restart: calls without a recorded end have an unknown outcome, except one that only ends the task. */
  async #finishLastTurn(signal: AbortSignal): Promise<TaskEnd | null> {
    const turn = this.#conversation.turns.at(-1);
    if (turn === undefined) return null;
    for (const call of openCalls(turn)) {
      const intent = intentOf(call);
      if (intent.kind === 'done' && !hasFailed(turn)) return endOf(intent);
      const { page, fingerprint } = await this.#look(signal);
      this.#answer(turn, call, { ok: false, text: UNKNOWN_OUTCOME, page }, fingerprint);
    }
    return null;
  }

  async #turn(signal: AbortSignal): Promise<TaskEnd | null> {
    if (this.#conversation.turns.length > 0 && (await this.#controlReturned(signal))) {
      await this.#reportPage(CONTROL_RETURNED, signal);
    }
    const call = this.#conversation.calls + 1;
    const request = { messages: messagesOf(this.#conversation), tools: TOOLS, signal };
    await this.#parts.caller.call(call, request);
    const turn = this.#conversation.turns.at(-1);
    if (turn === undefined || turn.toolCalls.length === 0) return null;
    await this.#parts.recorded(call);
    for (const one of turn.toolCalls) {
      signal.throwIfAborted();
      const ended = await this.#execute(turn.call, one, signal);
      if (ended !== null) return ended;
    }
    return null;
  }

  async #execute(number: number, call: ToolCall, signal: AbortSignal): Promise<TaskEnd | null> {
    const turn = this.#conversation.turns.find((one) => one.call === number);
    if (turn === undefined) return null;
    const intent = intentOf(call);
    // The model's decision was for a page that a person may have changed meanwhile.
    if (await this.#controlReturned(signal)) {
      const { page, fingerprint } = await this.#look(signal);
      this.#answer(turn, call, { ok: false, text: `Not done. ${CONTROL_RETURNED}`, page }, fingerprint);
      return null;
    }
    switch (intent.kind) {
      case 'done':
        if (!hasFailed(turn)) return endOf(intent);
        this.#answer(turn, call, { ok: false, text: NOT_DONE, page: null }, '');
        return null;
      case 'malformed':
        this.#answer(turn, call, { ok: false, text: intent.why, page: null }, '');
        return null;
      case 'evaluate':
        await this.#report(turn, call, await this.#parts.environment.evaluate(intent.js, signal), signal);
        return null;
      case 'resume':
        await this.#report(turn, call, await this.#parts.environment.resumeFlow(intent.how, signal), signal);
        return null;
      default:
        return assertNever(intent);
    }
  }

  async #report(turn: Turn, call: ToolCall, outcome: ScriptOutcome, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const handedBack = await this.#controlReturned(signal);
    const { page, fingerprint, fault } = await this.#look(signal);
    const said = [outcomeText(outcome), handedBack ? CONTROL_RETURNED : '', fault ?? ''];
    const text = said.filter((part) => part !== '').join('\n');
    this.#answer(turn, call, { ok: outcome.end.kind === 'result', text, page }, fingerprint);
  }

  /** @param pageFingerprint the fingerprint of the page after the call; '' if there was no look */
  #answer(
    turn: Turn,
    { id, name, arguments: given }: ToolCall,
    answer: { readonly ok: boolean; readonly text: string; readonly page: PageText | null },
    pageFingerprint: string,
  ): void {
    const step = JSON.stringify([name, given, answer.ok, answer.text, pageFingerprint]);
    const print = createHash('sha1').update(step).digest('base64url').slice(0, 12);
    const data: EventData<'ToolAnswered'> = { call: turn.call, id, tool: name.slice(0, 100), ...answer, print };
    this.#parts.record.emit({ type: 'ToolAnswered', data });
  }

  /** Looks at the page. If that fails, returns the error as text. */
  async #look(
    signal: AbortSignal,
  ): Promise<{ readonly page: PageText | null; readonly fingerprint: string; readonly fault: string | null }> {
    try {
      const look = await this.#parts.environment.look(signal);
      return { ...viewPage(look, this.#conversation), fault: null };
    } catch (error) {
      signal.throwIfAborted();
      return {
        page: null,
        fingerprint: '',
        fault: `The page could not be looked at: ${errorText(encodeError(error))}`,
      };
    }
  }

  /** Waits while a person has control. True if a person has had it and the model was not notified. */
  async #controlReturned(signal: AbortSignal): Promise<boolean> {
    const handovers = await this.#parts.environment.waitForControl(signal);
    const changed = handovers !== this.#handovers;
    this.#handovers = handovers;
    return changed;
  }

  async #reportPage(text: string, signal: AbortSignal): Promise<void> {
    const { page } = await this.#look(signal);
    const turn = this.#conversation.turns.at(-1);
    if (turn !== undefined) this.#parts.record.emit({ type: 'ModelNudged', data: { call: turn.call, text, page } });
  }

  #nudge(text: string): void {
    const turn = this.#conversation.turns.at(-1);
    if (turn !== undefined) this.#parts.record.emit({ type: 'ModelNudged', data: { call: turn.call, text } });
  }
}

const CONTROL_RETURNED =
  'A person has had control of the browser meanwhile, and released it. Continue from the page as it is now.';
const FRESH_BROWSER =
  'The service was started again, and the browser is a new one: it shows an empty page, and its log-ins and all that was ' +
  'typed are gone. What was sent to servers has happened. Find out how far the task is, and continue from there.';
const NOT_DONE = 'Not accepted: a call before this one failed. Look at what came of it first.';

function openCalls({ toolCalls, answers }: Turn): readonly ToolCall[] {
  return toolCalls.slice(answers.length);
}

function hasFailed({ answers }: Turn): boolean {
  return answers.some(({ ok }) => !ok);
}

function endOf({ success, summary }: Extract<Intent, { kind: 'done' }>): TaskEnd {
  if (success) return { success: true, summary };
  return {
    success: false,
    summary,
    error: { code: 'TASK_FAILED', error: summary || 'The model says that the task failed' },
  };
}

function failed(code: 'TASK_FAILED' | 'MAX_ITERATIONS', why: string): TaskEnd {
  return { success: false, summary: why, error: { code, error: why } };
}
