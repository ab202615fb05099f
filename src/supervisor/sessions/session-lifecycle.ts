import { assertNever } from '../../base/assert-never.js';
import type { BrowserLease } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionChild } from './session-child.js';
import type { SessionVideo } from './session-video.js';
import type { Attempt } from './task/attempt.js';

/** The right to run one session. Must be released; releasing it again does nothing. */
export interface Slot {
  release(): void;
}

/** A session's resources, acquired in this order and released in reverse order. */
export interface SessionHoldings {
  readonly slot: Slot;
  readonly lease: BrowserLease | null;
  readonly video: SessionVideo | null;
  readonly actor: SessionChild | null;
  /** The lease is being released: the browser can no longer be used, but still belongs to this session. */
  readonly isReleasing: boolean;
}

/**
 * The states of a session, each with its resources:
 *
 *     waiting --Begun--> starting --Opened--> running
 *        ^                  |                    |
 *        |                  +-----Requeued-------+--> requeuing
 *        '---- Released ----'----- Released ------------'
 *
 *     any of them --Ended--> ending --Released--> ended
 *
 * A start that fails releases its resources and waits again, until its owner requeues or ends the session. If the
 * session
 * was ended during a start, the state `ending` holds what the start acquires later, and releases it.
 */
export type SessionLifecycle =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'starting'; readonly held: SessionHoldings; readonly attempt: Attempt | null }
  /** `scripts` counts running and waiting scripts; a live session has no `attempt`. */
  | {
      readonly kind: 'running';
      readonly held: SessionHoldings;
      readonly attempt: Attempt | null;
      readonly scripts: number;
    }
  | { readonly kind: 'requeuing'; readonly held: SessionHoldings }
  | { readonly kind: 'ending'; readonly held: SessionHoldings | null }
  | { readonly kind: 'ended' };

export type LifecycleInput =
  /** `attempt` is null for a live session. */
  | { readonly type: 'Begun'; readonly slot: Slot; readonly attempt: Attempt | null }
  | { readonly type: 'LeaseAcquired'; readonly lease: BrowserLease; readonly video: SessionVideo | null }
  | { readonly type: 'ActorStarted'; readonly actor: SessionChild }
  | { readonly type: 'Opened' }
  | { readonly type: 'ScriptSubmitted' }
  | { readonly type: 'ScriptSettled' }
  | { readonly type: 'Requeued' }
  | { readonly type: 'ActorStopped' }
  | { readonly type: 'BrowserReleasing' }
  | { readonly type: 'Released' }
  | { readonly type: 'Ended' };

/** The resources that the session holds in this state. */
export function heldBy(state: SessionLifecycle): SessionHoldings | null {
  return state.kind === 'waiting' || state.kind === 'ended' ? null : state.held;
}

/** The current attempt; null for a live session, and if nothing runs. */
export function attemptOf(state: SessionLifecycle): Attempt | null {
  return state.kind === 'starting' || state.kind === 'running' ? state.attempt : null;
}

/**
 * Computes the next state.
 * @throws SESSION_ENDED if a script is submitted to a session that is not running
 * @throws INTERNAL if the input is not valid in that state
 */
export function transition(state: SessionLifecycle, input: LifecycleInput): SessionLifecycle {
  switch (input.type) {
    case 'Begun':
      if (heldBy(state) === null) {
        const held = { slot: input.slot, lease: null, video: null, actor: null, isReleasing: false };
        // If the session was ended meanwhile, it holds the slot only until it is released.
        return state.kind === 'waiting' ? { kind: 'starting', held, attempt: input.attempt } : { kind: 'ending', held };
      }
      break;
    case 'LeaseAcquired':
      return withHeld(state, input, { lease: input.lease, video: input.video });
    case 'ActorStarted':
      return withHeld(state, input, { actor: input.actor });
    case 'ActorStopped':
      return withHeld(state, input, { actor: null });
    case 'BrowserReleasing':
      return withHeld(state, input, { isReleasing: true });
    case 'Opened':
      if (state.kind === 'starting') return { ...state, kind: 'running', scripts: 0 };
      if (state.kind === 'ending') return state;
      break;
    case 'ScriptSubmitted':
      if (state.kind === 'running') return { ...state, scripts: state.scripts + 1 };
      throw new TroupeError('SESSION_ENDED', 'The session is not running');
    case 'ScriptSettled':
      // An aborted script settles after the state in which it was submitted.
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

function withHeld(state: SessionLifecycle, input: LifecycleInput, change: Partial<SessionHoldings>): SessionLifecycle {
  if (state.kind === 'waiting' || state.kind === 'ended' || state.held === null) throw impossible(state, input);
  return { ...state, held: { ...state.held, ...change } };
}

function impossible(state: SessionLifecycle, input: LifecycleInput): TroupeError {
  return new TroupeError('INTERNAL', `A session that is ${state.kind} cannot take ${input.type}`);
}
