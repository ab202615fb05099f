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

/** What the loop works on: a session's browser and scripts. */
export interface Workplace {
  /** Runs a script of the model. Never rejects for what the script did. */
  evaluate(source: string, signal: AbortSignal): Promise<ScriptOutcome>;
  /** Goes on with the flow that failed; see `Flow.resume` in the prompt. */
  resumeFlow(how: ResumeRequest, signal: AbortSignal): Promise<ScriptOutcome>;
  /** The page now. */
  look(signal: AbortSignal): Promise<WholeLook>;
  /** Waits while a person has control; answers how often one has had it. */
  waitForControl(signal: AbortSignal): Promise<number>;
}

/** The beginning of a conversation. */
export interface Opening {
  readonly model: string;
  readonly system: string;
  readonly task: string;
}

export interface LoopParts {
  /** What was said before is in it, where the session has been in this phase already. */
  readonly record: ConversationRecord;
  /** Tells the same record. */
  readonly caller: ModelCaller;
  readonly workplace: Workplace;
  readonly budget: Budget;
  /** Settles when the answer of that number is on disk: what it asks for is not done before. */
  recorded(call: number): Promise<void>;
}

/** How a task ended that a model worked on. */
export type TaskEnd =
  | { readonly success: true; readonly summary: string }
  | { readonly success: false; readonly summary: string | null; readonly error: ErrorBody };

/**
 * The model loop: asks the model, does what it says, tells it what came of it, until it says that it is done or has had
 * enough. All that it knows is the conversation, and all that changes the conversation is told as an event first, so it
 * goes on from the journal where a killed service stopped.
 *
 *     asked --answer--> recorded --tool call by tool call--> told --judged--> asked
 *                                        `--done--> ended       `--> ended
 */
export class Loop {
  readonly #parts: LoopParts;
  /** How often a person has had control, as far as the model knows. */
  #handovers: number;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#handovers = parts.record.conversation.handedOver ? -1 : 0;
  }

  get #conversation() {
    return this.#parts.record.conversation;
  }

  /**
   * @param how.freshBrowser what was said before was said about a page that is gone
   * @throws MODEL_ERROR when no model can be reached; the signal's reason when it is aborted
   */
  async run(
    { opening, freshBrowser = false }: { readonly opening: () => Promise<Opening>; readonly freshBrowser?: boolean },
    signal: AbortSignal,
  ): Promise<TaskEnd> {
    const { start, turns } = this.#conversation;
    // Where nothing was answered yet, the task is told anew with the page as it is now.
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
    await this.#handedBack(signal);
    const { page } = await this.#see(signal);
    this.#parts.record.emit({ type: 'ModelStarted', data: { model, maxIterations, maxTokens, system, task, page } });
  }

  /** After a restart: calls without a recorded end are of unknown outcome, but for one that only ends the task. */
  async #finishLastTurn(signal: AbortSignal): Promise<TaskEnd | null> {
    const turn = this.#conversation.turns.at(-1);
    if (turn === undefined) return null;
    for (const call of openCalls(turn)) {
      const intent = intentOf(call);
      if (intent.kind === 'done' && !hasFailed(turn)) return endOf(intent);
      const { page, print } = await this.#see(signal);
      this.#answer(turn, call, { ok: false, text: UNKNOWN_OUTCOME, page }, print);
    }
    return null;
  }

  async #turn(signal: AbortSignal): Promise<TaskEnd | null> {
    if (this.#conversation.turns.length > 0 && (await this.#handedBack(signal))) {
      await this.#reportPage(HANDED_BACK, signal);
    }
    const call = this.#conversation.calls + 1;
    const order = { messages: messagesOf(this.#conversation), tools: TOOLS, signal };
    await this.#parts.caller.call(call, order);
    const turn = this.#conversation.turns.at(-1);
    if (turn === undefined || turn.toolCalls.length === 0) return null;
    await this.#parts.recorded(call);
    for (const one of turn.toolCalls) {
      signal.throwIfAborted();
      const ended = await this.#do(turn.call, one, signal);
      if (ended !== null) return ended;
    }
    return null;
  }

  async #do(number: number, call: ToolCall, signal: AbortSignal): Promise<TaskEnd | null> {
    const turn = this.#conversation.turns.find((one) => one.call === number);
    if (turn === undefined) return null;
    const intent = intentOf(call);
    // What the model decided was for a page that a person may have changed meanwhile.
    if (await this.#handedBack(signal)) {
      const { page, print } = await this.#see(signal);
      this.#answer(turn, call, { ok: false, text: `Not done. ${HANDED_BACK}`, page }, print);
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
        await this.#report(turn, call, await this.#parts.workplace.evaluate(intent.js, signal), signal);
        return null;
      case 'resume':
        await this.#report(turn, call, await this.#parts.workplace.resumeFlow(intent.how, signal), signal);
        return null;
      default:
        return assertNever(intent);
    }
  }

  async #report(turn: Turn, call: ToolCall, outcome: ScriptOutcome, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const handedBack = await this.#handedBack(signal);
    const { page, print, fault } = await this.#see(signal);
    const said = [outcomeText(outcome), handedBack ? HANDED_BACK : '', fault ?? ''];
    const text = said.filter((part) => part !== '').join('\n');
    this.#answer(turn, call, { ok: outcome.end.kind === 'result', text, page }, print);
  }

  /** @param pagePrint of the page after the call; '' where it was not looked at */
  #answer(
    turn: Turn,
    { id, name, arguments: given }: ToolCall,
    answer: { readonly ok: boolean; readonly text: string; readonly page: PageText | null },
    pagePrint: string,
  ): void {
    const step = JSON.stringify([name, given, answer.ok, answer.text, pagePrint]);
    const print = createHash('sha1').update(step).digest('base64url').slice(0, 12);
    const data: EventData<'ToolAnswered'> = { call: turn.call, id, tool: name.slice(0, 100), ...answer, print };
    this.#parts.record.emit({ type: 'ToolAnswered', data });
  }

  /** A page that cannot be looked at is told of in words. */
  async #see(
    signal: AbortSignal,
  ): Promise<{ readonly page: PageText | null; readonly print: string; readonly fault: string | null }> {
    try {
      const look = await this.#parts.workplace.look(signal);
      return { ...viewPage(look, this.#conversation), fault: null };
    } catch (error) {
      signal.throwIfAborted();
      return { page: null, print: '', fault: `The page could not be looked at: ${errorText(encodeError(error))}` };
    }
  }

  /** Waits while a person has control. True where one has had it and the model does not know. */
  async #handedBack(signal: AbortSignal): Promise<boolean> {
    const handovers = await this.#parts.workplace.waitForControl(signal);
    const isNews = handovers !== this.#handovers;
    this.#handovers = handovers;
    return isNews;
  }

  async #reportPage(text: string, signal: AbortSignal): Promise<void> {
    const { page } = await this.#see(signal);
    const turn = this.#conversation.turns.at(-1);
    if (turn !== undefined) this.#parts.record.emit({ type: 'ModelNudged', data: { call: turn.call, text, page } });
  }

  #nudge(text: string): void {
    const turn = this.#conversation.turns.at(-1);
    if (turn !== undefined) this.#parts.record.emit({ type: 'ModelNudged', data: { call: turn.call, text } });
  }
}

const HANDED_BACK =
  'A person has had control of the browser meanwhile, and gave it back. Go on from the page as it is now.';
const FRESH_BROWSER =
  'The service was started again, and the browser is a new one: it shows an empty page, and its log-ins and all that was ' +
  'typed are gone. What was sent to servers has happened. Find out how far the task is, and go on from there.';
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
