import type { EventData, SessionEvent } from '../protocol/events.js';
import type { PageText } from '../protocol/model.js';
import type { Tokens } from '../protocol/session.js';

/** An answer of the model, and everything that it was sent in response. */
export interface Turn {
  readonly call: number;
  readonly text: string;
  /** The provider's finish reason; '' if there was none. */
  readonly finish: string;
  readonly toolCalls: EventData<'ModelCallFinished'>['toolCalls'];
  readonly answers: readonly EventData<'ToolAnswered'>[];
  readonly nudges: readonly { readonly text: string; readonly page: PageText | null }[];
}

/**
 * A conversation with a model, computed from its events alone, so that a service that was killed restores it from the
 * journal.
 */
export interface Conversation {
  /** Null until the model phase has begun. */
  readonly start: EventData<'ModelStarted'> | null;
  readonly turns: readonly Turn[];
  /** The number of answers in earlier attempts at the task, whose content this one does not have. */
  readonly earlier: number;
  /** Calls that were started, including those without an answer. */
  readonly calls: number;
  readonly tokens: Tokens;
  /** A person has had control of the session, and the model was not notified yet. */
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

/** The conversation after an event. Other events do not change it. */
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
      // Tokens and answers of earlier attempts still count.
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
