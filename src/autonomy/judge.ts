import type { Conversation, Turn } from './conversation.js';

/** The limits of a model phase. */
export interface Budget {
  readonly maxIterations: number;
  /** Input and output together; null for no limit. */
  readonly maxTokens: number | null;
}

/** The verdict after an answer. The text of a `nudge` is sent to the model. */
export type Judgement =
  | { readonly kind: 'go-on' }
  | { readonly kind: 'nudge'; readonly text: string }
  | { readonly kind: 'end'; readonly code: 'TASK_FAILED' | 'MAX_ITERATIONS'; readonly why: string };

/** How many repetitions of a step without effect cause a nudge, and how many end the task (spec section 4). */
const SAME_NUDGE = 3;
const SAME_END = 5;
/** The newest answers that are checked for repetitions. */
const LOOK_BACK = 12;
/** Consecutive answers without a tool call that end the task. */
const TALK_END = 2;
/** The model is warned this many answers before the limit. */
const WARNING_AT = 3;

/** Judges a conversation by its content alone: the same conversation always gets the same judgement. */
export function judge(conversation: Conversation, { maxIterations, maxTokens }: Budget): Judgement {
  const { turns, tokens } = conversation;
  const answers = conversation.earlier + turns.length;
  const last = turns.at(-1);
  if (last !== undefined && last.toolCalls.length === 0 && talkInARow(turns) >= TALK_END) {
    return end(
      'TASK_FAILED',
      `The model called no tool twice in a row. It said: ${last.text.slice(0, 500) || '(nothing)'}`,
    );
  }
  const same = repetitions(turns);
  if (same >= SAME_END) return end('TASK_FAILED', `The model took the same step ${same} times without an effect`);
  if (answers >= maxIterations) {
    return end('MAX_ITERATIONS', `The model did not end the task in ${maxIterations} answers`);
  }
  const spent = tokens.input + tokens.output;
  if (maxTokens !== null && spent >= maxTokens) {
    return end('MAX_ITERATIONS', `The task used ${spent} tokens of ${maxTokens}`);
  }
  const nudges = nudgesFor(last, same, maxIterations - answers);
  return nudges.length === 0 ? { kind: 'go-on' } : { kind: 'nudge', text: nudges.join('\n') };
}

function nudgesFor(last: Turn | undefined, same: number, left: number): readonly string[] {
  // After a restart, the nudges may have been sent already.
  if (last === undefined || last.nudges.length > 0) return [];
  const nudges: string[] = [];
  if (last.toolCalls.length === 0) nudges.push(TALK_NUDGES[last.finish] ?? TALK_NUDGE);
  if (same >= SAME_NUDGE)
    nudges.push(`This step was taken ${same} times and changed nothing. Try another way, or call done.`);
  if (left === WARNING_AT)
    nudges.push(`${left} answers are left. Finish, and call done in the last one at the latest.`);
  return nudges;
}

const TALK_NUDGE = 'You called no tool. Call agent_eval to continue, or done to end the task.';
const TALK_NUDGES: { readonly [finish: string]: string } = {
  cut: 'Your answer was stopped, since it was too long, and it called no tool. Be brief: call agent_eval or done.',
  length: 'Your answer was too long and called no tool. Be brief: call agent_eval or done.',
};

function talkInARow(turns: readonly Turn[]): number {
  return turns.length - 1 - turns.findLastIndex((turn) => turn.toolCalls.length > 0);
}

/** How often the newest step occurs among the last ones, with the same outcome on the same page. */
function repetitions(turns: readonly Turn[]): number {
  const prints = turns.flatMap((turn) => turn.answers.map(({ print }) => print)).slice(-LOOK_BACK);
  const newest = prints.at(-1);
  return newest === undefined ? 0 : prints.filter((print) => print === newest).length;
}

function end(code: 'TASK_FAILED' | 'MAX_ITERATIONS', why: string): Judgement {
  return { kind: 'end', code, why };
}
