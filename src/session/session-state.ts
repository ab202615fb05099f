import { assertNever } from '../base/assert-never.js';
import { type ErrorBody, TroupeError } from '../protocol/errors.js';

/**
 * The lifecycle of a session actor.
 *
 *   new --Opening--> opening --Opened--> idle <--ScriptEnded--+
 *                                         `----ScriptBegan--> scripting
 *   any --Ended--> ended
 */
export type SessionState =
  | { readonly kind: 'new' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'scripting'; readonly script: number }
  | { readonly kind: 'ended'; readonly error: ErrorBody };

export type SessionInput =
  | { readonly type: 'Opening' }
  | { readonly type: 'Opened' }
  | { readonly type: 'ScriptBegan'; readonly script: number }
  | { readonly type: 'ScriptEnded' }
  | { readonly type: 'Ended'; readonly error: ErrorBody };

/**
 * Computes the next state. `ended` keeps its first error and ignores later inputs.
 * @throws SESSION_ENDED if a script is to run in an ended session
 * @throws INTERNAL if the input is not valid in that state
 */
export function transition(state: SessionState, input: SessionInput): SessionState {
  if (state.kind === 'ended') {
    if (input.type === 'ScriptBegan' || input.type === 'Opening') {
      throw new TroupeError(state.error.code, state.error.error, state.error.details);
    }
    return state;
  }
  switch (input.type) {
    case 'Opening':
      if (state.kind === 'new') return { kind: 'opening' };
      break;
    case 'Opened':
      if (state.kind === 'opening') return { kind: 'idle' };
      break;
    case 'ScriptBegan':
      if (state.kind === 'idle') return { kind: 'scripting', script: input.script };
      break;
    case 'ScriptEnded':
      if (state.kind === 'scripting') return { kind: 'idle' };
      break;
    case 'Ended':
      return { kind: 'ended', error: input.error };
    default:
      return assertNever(input);
  }
  throw new TroupeError('INTERNAL', `A session that is ${state.kind} cannot take ${input.type}`);
}
