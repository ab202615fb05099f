import type { EventData, SessionEvent } from '../protocol/events.js';
import type { PageText } from '../protocol/model.js';
import type { Tokens } from '../protocol/session.js';

/** One answer of the model, and all that it was told about it. */
export interface Turn {
  readonly call: number;
  readonly text: string;
  /** The provider's word for why it ended; '' where there was none. */
  readonly finish: string;
  readonly toolCalls: EventData<'ModelCallFinished'>['toolCalls'];
  readonly answers: readonly EventData<'ToolAnswered'>[];
  readonly nudges: readonly { readonly text: string; readonly page: PageText | null }[];
}

/**
 * A conversation with a model: a fold of its events, so that a service that was killed has it again from the journal.
 * Nothing but these events changes it.
 */
export interface Conversation {
  /** Null until the model phase has begun. */
  readonly start: EventData<'ModelStarted'> | null;
  readonly turns: readonly Turn[];
  /** Answers of earlier attempts at the task, which this one knows nothing of. */
  readonly earlier: number;
  /** Calls begun, also those without an answer. */
  readonly calls: number;
  readonly tokens: Tokens;
  /** A person has had the session's control, and the model does not know yet. */
  readonly handedOver: boolean;
}

export const EMPTY_CONVERSATION: Conversation = {
  start: null,
  turns: [],
  earlier: 0,
  calls: 0,
  tokens: { input: 0, cached: 0, output: 0 },
  handedOver: false,
};

/** The conversation after an event. Events of other kinds leave it as it is. */
export function converse(before: Conversation, event: SessionEvent): Conversation {
  switch (event.type) {
    case 'ModelStarted':
      return { ...before, start: event.data };
    case 'ModelCallStarted':
      return { ...before, calls: Math.max(before.calls, event.data.call) };
    case 'ModelCallFinished': {
      const { call, text, toolCalls, tokens, error, finish } = event.data;
      const spent = { ...before, tokens: addTokens(before.tokens, tokens) };
      if (error !== undefined) return spent;
      return {
        ...spent,
        turns: [...before.turns, { call, text, finish: finish ?? '', toolCalls, answers: [], nudges: [] }],
      };
    }
    case 'ToolAnswered':
      return changeTurn(before, event.data.call, (turn) => ({ ...turn, answers: [...turn.answers, event.data] }));
    case 'ModelNudged': {
      const { call, text, page = null } = event.data;
      const nudge = { text, page };
      return changeTurn(before, call, (turn) => ({ ...turn, nudges: [...turn.nudges, nudge] }));
    }
    case 'ControlTaken':
      return { ...before, handedOver: true };
    case 'AttemptFailed':
      // What was spent stays spent.
      return { ...before, start: null, turns: [], earlier: before.earlier + before.turns.length, handedOver: false };
    default:
      return before;
  }
}

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    output: one.output + other.output,
  };
}

function changeTurn(before: Conversation, call: number, change: (turn: Turn) => Turn): Conversation {
  return {
    ...before,
    handedOver: false,
    turns: before.turns.map((turn) => (turn.call === call ? change(turn) : turn)),
  };
}
