import { assertNever } from '../../base/assert-never.js';
import type { BrowserLease } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionChild } from './session-child.js';
import type { SessionVideo } from './session-video.js';
import type { Attempt } from './task/attempt.js';

/** The right to run one session. Must be released once; releasing it again does nothing. */
export interface Slot {
  release(): void;
}

/** What a session holds, acquired in this order and released in the reverse one. */
export interface Held {
  readonly slot: Slot;
  readonly lease: BrowserLease | null;
  readonly video: SessionVideo | null;
  readonly actor: SessionChild | null;
  /** The lease is being released: the browser is of no use any more, and still this session's. */
  readonly isLeaving: boolean;
}

/**
 * The states of a session, each with what it holds:
 *
 *     waiting --Begun--> starting --Opened--> running
 *        ^                  |                    |
 *        |                  +-----Requeued-------+--> requeuing
 *        '---- Released ----'----- Released ------------'
 *
 *     any of them --Ended--> ending --Released--> ended
 *
 * A start that fails releases what it had and waits again, until its owner requeues or ends it. What a start acquires
 * after the session was ended is held by `ending`, which releases it.
 */
export type SessionLifecycle =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'starting'; readonly held: Held; readonly attempt: Attempt | null }
  /** `scripts` counts those that run or wait; a live session has no `attempt`. */
  | { readonly kind: 'running'; readonly held: Held; readonly attempt: Attempt | null; readonly scripts: number }
  | { readonly kind: 'requeuing'; readonly held: Held }
  | { readonly kind: 'ending'; readonly held: Held | null }
  | { readonly kind: 'ended' };

export type LifecycleInput =
  /** `attempt` at a job's task; null for a live session. */
  | { readonly type: 'Begun'; readonly slot: Slot; readonly attempt: Attempt | null }
  | { readonly type: 'LeaseAcquired'; readonly lease: BrowserLease; readonly video: SessionVideo | null }
  | { readonly type: 'ActorStarted'; readonly actor: SessionChild }
  | { readonly type: 'Opened' }
  | { readonly type: 'ScriptCame' }
  | { readonly type: 'ScriptLeft' }
  | { readonly type: 'Requeued' }
  | { readonly type: 'ActorStopped' }
  | { readonly type: 'BrowserLeaving' }
  | { readonly type: 'Released' }
  | { readonly type: 'Ended' };

/** What the session holds in this state. */
export function heldBy(state: SessionLifecycle): Held | null {
  return state.kind === 'waiting' || state.kind === 'ended' ? null : state.held;
}

/** The attempt under way; null for a live session, and where nothing runs. */
export function attemptOf(state: SessionLifecycle): Attempt | null {
  return state.kind === 'starting' || state.kind === 'running' ? state.attempt : null;
}

/**
 * The next state.
 * @throws SESSION_ENDED when a script comes to a session that does not run
 * @throws INTERNAL when an input cannot come in that state
 */
export function transition(state: SessionLifecycle, input: LifecycleInput): SessionLifecycle {
  switch (input.type) {
    case 'Begun':
      if (heldBy(state) === null) {
        const held = { slot: input.slot, lease: null, video: null, actor: null, isLeaving: false };
        // One that was ended meanwhile has the slot for as long as it takes to release it.
        return state.kind === 'waiting' ? { kind: 'starting', held, attempt: input.attempt } : { kind: 'ending', held };
      }
      break;
    case 'LeaseAcquired':
      return withHeld(state, input, { lease: input.lease, video: input.video });
    case 'ActorStarted':
      return withHeld(state, input, { actor: input.actor });
    case 'ActorStopped':
      return withHeld(state, input, { actor: null });
    case 'BrowserLeaving':
      return withHeld(state, input, { isLeaving: true });
    case 'Opened':
      if (state.kind === 'starting') return { ...state, kind: 'running', scripts: 0 };
      if (state.kind === 'ending') return state;
      break;
    case 'ScriptCame':
      if (state.kind === 'running') return { ...state, scripts: state.scripts + 1 };
      throw new TroupeError('SESSION_ENDED', 'The session does not run');
    case 'ScriptLeft':
      // A script that was aborted leaves after the state in which it came.
      return state.kind === 'running' ? { ...state, scripts: Math.max(0, state.scripts - 1) } : state;
    case 'Requeued':
      if (state.kind === 'starting' || state.kind === 'running') return { kind: 'requeuing', held: state.held };
      return state;
    case 'Released':
      return { kind: state.kind === 'ending' || state.kind === 'ended' ? 'ended' : 'waiting' };
    case 'Ended':
      return state.kind === 'ended' ? state : { kind: 'ending', held: heldBy(state) };
    default:
      return assertNever(input);
  }
  throw impossible(state, input);
}

function withHeld(state: SessionLifecycle, input: LifecycleInput, change: Partial<Held>): SessionLifecycle {
  if (state.kind === 'waiting' || state.kind === 'ended' || state.held === null) throw impossible(state, input);
  return { ...state, held: { ...state.held, ...change } };
}

function impossible(state: SessionLifecycle, input: LifecycleInput): TroupeError {
  return new TroupeError('INTERNAL', `A session that is ${state.kind} cannot take ${input.type}`);
}
