import { assertNever } from '../base/assert-never.js';
import type { Claim, NodeStart, RefusalReason, Registration, Renewal } from './cluster-store.js';
import type { LeaseTimes } from './lease-times.js';

/** A call of the store that the machine asked for, and at most one of each at a time. */
export type StoreCall = 'register' | 'renew' | 'claim' | 'sweep' | 'leave';

/** What happened. `startToken` is that of the start for which a call was made: answers for a former start are ignored. */
export type NodeEvent =
  | { readonly kind: 'tick' }
  | { readonly kind: 'registered'; readonly startToken: string; readonly answer: Registration }
  | { readonly kind: 'renewed'; readonly startToken: string; readonly answer: Renewal }
  | { readonly kind: 'claimed'; readonly startToken: string; readonly claims: readonly Claim[] }
  | { readonly kind: 'swept'; readonly startToken: string; readonly inherited: readonly Claim[] }
  | { readonly kind: 'left'; readonly startToken: string; readonly done: boolean }
  | { readonly kind: 'callFailed'; readonly startToken: string; readonly call: StoreCall }
  /** A live session is about to be created here: it takes a slot, and a renewal may name its claim before the answer. */
  | { readonly kind: 'creating'; readonly sessionId: string }
  | { readonly kind: 'created'; readonly claim: Claim }
  /** It was not, or nobody knows: then the next renewal names its claim, and it is recovered. */
  | { readonly kind: 'notCreated'; readonly sessionId: string }
  /** The session ended, was queued again, or a write was refused: its claim is gone. */
  | { readonly kind: 'released'; readonly claim: Claim }
  /** All sessions that {@link NodeEffect} `stop` named are stopped. */
  | { readonly kind: 'stopped' }
  /** A job may have been queued. */
  | { readonly kind: 'hint' }
  /** The node is to stop: no new claims, and it leaves once its claims are gone. */
  | { readonly kind: 'drain' };

/** What the driver must do. */
export type NodeEffect =
  | { readonly kind: StoreCall; readonly start: NodeStart; readonly count: number }
  /** Run a job from the queue. */
  | { readonly kind: 'run'; readonly claim: Claim }
  /** Decide what becomes of a session of a former start or another node; see `afterLoss`. */
  | { readonly kind: 'recover'; readonly claim: Claim }
  /** Authority is lost: stop all sessions at once and write nothing, then report `stopped`. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'ended'; readonly reason: RefusalReason | 'left' };

type State =
  | { readonly kind: 'joining' }
  /** `provenAtMs`: when the last successful renewal was sent. */
  | { readonly kind: 'up'; readonly provenAtMs: number }
  /** Its sessions are being stopped. */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'ended' };

/** In place of a token that is not known yet. */
const PENDING = '';

export interface NodeMachineParts {
  readonly id: string;
  readonly slots: number;
  readonly times: LeaseTimes;
  /** A fresh start token. */
  readonly newToken: () => string;
}

/**
 * A node's membership, without I/O: events in, effects out. `nowMs` is a monotonic clock; steps of the wall clock have no
 * effect.
 *
 *   joining -> up -> fenced -> joining ...
 *      |        `-> ended (left)
 *      `-> ended (refused)
 *
 * Authority counts from when the last successful renewal was sent, not from its answer: the database extended the lease
 * at some moment between them. Any error counts as no renewal.
 */
export class NodeMachine {
  readonly #parts: NodeMachineParts;
  readonly #held = new Map<string, string>();
  readonly #calls = new Map<StoreCall, number>();
  #state: State = { kind: 'joining' };
  #startToken: string;
  #draining = false;
  #renewAtMs = Number.NEGATIVE_INFINITY;
  #claimAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: NodeMachineParts) {
    this.#parts = parts;
    this.#startToken = parts.newToken();
  }

  get start(): NodeStart {
    return { id: this.#parts.id, startToken: this.#startToken };
  }

  get state(): State['kind'] {
    return this.#state.kind;
  }

  get held(): number {
    return this.#held.size;
  }

  /** Whether a live session is being created; false after fencing, and the session must then not begin. */
  holdsPending(sessionId: string): boolean {
    return this.#held.get(sessionId) === PENDING;
  }

  /**
   * Whether sessions of this node may still act. Checked before each action, since a frozen process that wakes up runs
   * before any timer.
   */
  mayAct(nowMs: number): boolean {
    return this.#state.kind === 'up' && nowMs - this.#state.provenAtMs < this.#parts.times.fenceAfterMs;
  }

  /** Until when {@link mayAct}, unless a renewal succeeds before. */
  get actsUntilMs(): number {
    const { fenceAfterMs } = this.#parts.times;
    return this.#state.kind === 'up' ? this.#state.provenAtMs + fenceAfterMs : Number.NEGATIVE_INFINITY;
  }

  /** When the next tick is needed. */
  get dueAtMs(): number {
    const state = this.#state;
    if (state.kind === 'ended' || state.kind === 'fenced') return Number.POSITIVE_INFINITY;
    if (state.kind === 'joining') return this.#calls.has('register') ? Number.POSITIVE_INFINITY : this.#renewAtMs;
    const due = [state.provenAtMs + this.#parts.times.fenceAfterMs];
    if (!this.#calls.has('renew')) due.push(this.#renewAtMs);
    if (this.#wantsClaims && !this.#calls.has('claim')) due.push(this.#claimAtMs);
    return Math.min(...due);
  }

  handle(event: NodeEvent, nowMs: number): readonly NodeEffect[] {
    if (this.#state.kind === 'ended') return [];
    if ('startToken' in event && event.startToken !== this.#startToken) return [];
    // A process that was frozen for too long handles its late answers only after it is fenced.
    if (this.#state.kind === 'up' && !this.mayAct(nowMs)) return [...this.#fence(), ...this.#apply(event, nowMs)];
    return [...this.#apply(event, nowMs), ...this.#due(nowMs)];
  }

  #apply(event: NodeEvent, nowMs: number): readonly NodeEffect[] {
    if ('startToken' in event && event.startToken !== this.#startToken) return [];
    switch (event.kind) {
      case 'tick':
        return [];
      case 'callFailed':
        this.#calls.delete(event.call);
        return [];
      case 'registered':
        return this.#registered(event.answer, nowMs);
      case 'renewed':
        return this.#renewed(event.answer, nowMs);
      case 'claimed':
        this.#calls.delete('claim');
        return this.#take('run', event.claims);
      case 'swept':
        this.#calls.delete('sweep');
        return this.#take('recover', event.inherited);
      case 'left':
        this.#calls.delete('leave');
        return event.done ? this.#end('left') : [];
      case 'creating':
        if (this.#state.kind === 'up') this.#held.set(event.sessionId, PENDING);
        return [];
      case 'created':
        // After fencing, the claim is one of a former start.
        if (this.holdsPending(event.claim.sessionId)) this.#held.set(event.claim.sessionId, event.claim.token);
        return [];
      case 'notCreated':
        if (this.holdsPending(event.sessionId)) this.#held.delete(event.sessionId);
        return [];
      case 'released':
        if (this.#held.get(event.claim.sessionId) === event.claim.token) {
          this.#held.delete(event.claim.sessionId);
          this.#claimAtMs = nowMs;
        }
        return [];
      case 'stopped':
        return this.#rejoin(nowMs);
      case 'hint':
        this.#claimAtMs = nowMs;
        return [];
      case 'drain':
        this.#draining = true;
        return [];
      default:
        return assertNever(event);
    }
  }

  #registered(answer: Registration, nowMs: number): readonly NodeEffect[] {
    const sentAtMs = this.#calls.get('register') ?? nowMs;
    this.#calls.delete('register');
    if (this.#state.kind !== 'joining') return [];
    if (answer.kind === 'refused') return this.#end(answer.reason);
    // Tried again at the next renewal.
    if (answer.kind === 'superseded') return [];
    this.#state = { kind: 'up', provenAtMs: sentAtMs };
    if (!this.mayAct(nowMs)) return this.#fence();
    this.#renewAtMs = nowMs + this.#parts.times.renewEveryMs;
    return this.#take('recover', answer.inherited);
  }

  #renewed(answer: Renewal, nowMs: number): readonly NodeEffect[] {
    const sentAtMs = this.#calls.get('renew') ?? nowMs;
    this.#calls.delete('renew');
    if (this.#state.kind !== 'up') return [];
    if (answer.kind === 'lost') return this.#fence();
    this.#state = { kind: 'up', provenAtMs: sentAtMs };
    this.#draining ||= answer.draining;
    const sweep = this.#draining ? [] : this.#call('sweep', nowMs);
    // A claim that is being answered is not unknown. If the answer is lost, the next renewal names it again.
    const unknown = this.#calls.has('claim') ? [] : answer.claims;
    return [...this.#take('recover', unknown), ...sweep];
  }

  /** Claims that are not known yet. A stale answer may name a session that has ended here: its token is then refused. */
  #take(kind: 'run' | 'recover', claims: readonly Claim[]): readonly NodeEffect[] {
    if (this.#state.kind !== 'up') return [];
    return claims.flatMap((claim) => {
      if (this.#held.has(claim.sessionId)) return [];
      this.#held.set(claim.sessionId, claim.token);
      return [{ kind, claim }];
    });
  }

  get #wantsClaims(): boolean {
    return this.#state.kind === 'up' && !this.#draining && this.#held.size < this.#parts.slots;
  }

  #due(nowMs: number): readonly NodeEffect[] {
    if (this.#state.kind === 'joining') {
      return nowMs >= this.#renewAtMs ? this.#renewLike('register', nowMs) : [];
    }
    if (this.#state.kind !== 'up') return [];
    const effects: NodeEffect[] = [];
    if (nowMs >= this.#renewAtMs) effects.push(...this.#renewLike('renew', nowMs));
    if (this.#wantsClaims && nowMs >= this.#claimAtMs && !this.#calls.has('claim')) {
      this.#claimAtMs = nowMs + this.#parts.times.pollEveryMs;
      effects.push(...this.#call('claim', nowMs, this.#parts.slots - this.#held.size));
    }
    return effects;
  }

  #renewLike(call: 'register' | 'renew', nowMs: number): readonly NodeEffect[] {
    if (this.#calls.has(call)) return [];
    this.#renewAtMs = nowMs + this.#parts.times.renewEveryMs;
    const leave = this.#draining && this.#held.size === 0 && call === 'renew' ? this.#call('leave', nowMs) : [];
    return [...this.#call(call, nowMs), ...leave];
  }

  #call(kind: StoreCall, nowMs: number, count = 0): readonly NodeEffect[] {
    if (this.#calls.has(kind)) return [];
    this.#calls.set(kind, nowMs);
    return [{ kind, start: this.start, count }];
  }

  /** The former start's answers are ignored from now on. */
  #fence(): readonly NodeEffect[] {
    this.#state = { kind: 'fenced' };
    this.#startToken = this.#parts.newToken();
    this.#calls.clear();
    this.#held.clear();
    return [{ kind: 'stop' }];
  }

  /** Registers anew, with the fresh start token. */
  #rejoin(nowMs: number): readonly NodeEffect[] {
    if (this.#state.kind !== 'fenced') return [];
    this.#state = { kind: 'joining' };
    this.#renewAtMs = nowMs;
    return [];
  }

  #end(reason: RefusalReason | 'left'): readonly NodeEffect[] {
    this.#state = { kind: 'ended' };
    this.#calls.clear();
    return [{ kind: 'ended', reason }];
  }
}
