import type { LostPhase } from '#troupe/cluster/after-loss.js';
import type { Claim, NodeDescription, NodeStart, Registration, Renewal } from '#troupe/cluster/cluster-store.js';
import { servedScore, UNSERVED } from '#troupe/cluster/fair-share.js';
import type { LeaseTimes } from '#troupe/cluster/lease-times.js';

/** A rule that is left out, to show that the simulation finds its absence. */
export type Mutation = 'token-check' | 'renewal-bound' | 'sweep-guard' | 'nonce';

/** A session as the store has it. */
export interface ModelSession {
  readonly id: string;
  readonly mode: 'live' | 'auto';
  readonly caller: string;
  readonly retries: number;
  attempt: number;
  status: 'queued' | 'running' | 'ended';
  phase: LostPhase;
  /** The numbers and writers of its events. */
  readonly events: { readonly number: number; readonly token: string }[];
  /** How often a flow was begun. */
  flowsBegun: number;
  ends: number;
}

/** What a session's writer changes, in one transaction. */
export type ModelWrite =
  | { readonly kind: 'begin' }
  /** Repeated with the same number if its answer was lost. */
  | { readonly kind: 'event'; readonly number: number; readonly phase?: LostPhase }
  | { readonly kind: 'requeue'; readonly retry: boolean }
  | { readonly kind: 'end' };

interface ModelNode extends NodeDescription {
  seenMs: number;
  /** The last renewal by the time that really passed: what the store cannot know. */
  seenTrulyMs: number;
  lost: boolean;
}

interface ModelClaim extends Claim {
  readonly node: string;
  readonly startToken: string;
}

/**
 * What the SQL does, as a model in memory: each method is one transaction. `violations` collects what must never happen and
 * the store alone can see.
 */
export class ModelStore {
  readonly sessions = new Map<string, ModelSession>();
  readonly claims = new Map<string, ModelClaim>();
  readonly violations: string[] = [];
  readonly #nodes = new Map<string, ModelNode>();
  readonly #queue: string[] = [];
  readonly #scores = new Map<string, number>();
  readonly #times: LeaseTimes;
  readonly #mutation: Mutation | undefined;
  readonly #clock: { readonly trulyMs: () => number; readonly nowMs: () => number; readonly steps: boolean };
  #lastToken = 0;

  constructor(
    times: LeaseTimes,
    clock: { readonly trulyMs: () => number; readonly nowMs: () => number; readonly steps: boolean },
    mutation: Mutation | undefined,
  ) {
    this.#times = times;
    this.#clock = clock;
    this.#mutation = mutation;
  }

  accept(session: Pick<ModelSession, 'id' | 'mode' | 'caller' | 'retries'>): void {
    const fresh = { attempt: 1, phase: 'flows', events: [], flowsBegun: 0, ends: 0 } as const;
    this.sessions.set(session.id, { ...session, ...fresh, events: [], status: 'queued' });
    if (session.mode === 'auto') this.#queue.push(session.id);
  }

  startOf(id: string): string | null {
    return this.#nodes.get(id)?.startToken ?? null;
  }

  register(node: NodeDescription, former: string | null): Registration {
    const known = this.#nodes.get(node.id);
    if ((known?.startToken ?? null) !== former) return { kind: 'superseded' };
    if (known !== undefined && known.home !== node.home && !this.#isExpired(known)) {
      return { kind: 'refused', reason: 'running-elsewhere' };
    }
    // A repeated registration gets the same claims.
    const inherited = this.#claimsOf(node.id, null).map((claim) =>
      claim.startToken === node.startToken ? claim : this.#give(claim.sessionId, node),
    );
    this.#nodes.set(node.id, { ...node, seenMs: this.#nowMs, seenTrulyMs: this.#clock.trulyMs(), lost: false });
    return { kind: 'joined', inherited };
  }

  renew(start: NodeStart): Renewal {
    const node = this.#member(start);
    if (node === null) return { kind: 'lost' };
    node.seenMs = this.#nowMs;
    node.seenTrulyMs = this.#clock.trulyMs();
    const claims = this.#claimsOf(start.id, start.startToken).map(({ sessionId, token }) => ({ sessionId, token }));
    return { kind: 'renewed', draining: false, claims };
  }

  claim(start: NodeStart, count: number): readonly Claim[] {
    if (this.#member(start) === null) return [];
    const claims: Claim[] = [];
    while (claims.length < count && this.#queue.length > 0) {
      const score = (id: string) => this.#scores.get(this.#session(id).caller) ?? UNSERVED;
      let next = this.#queue[0] ?? '';
      for (const id of this.#queue) if (score(id) < score(next)) next = id;
      this.#queue.splice(this.#queue.indexOf(next), 1);
      this.#scores.set(this.#session(next).caller, servedScore(score(next), this.#nowMs));
      this.#session(next).status = 'running';
      claims.push(this.#give(next, start));
    }
    return claims;
  }

  /** A live session is created by the node that will run it. */
  create(start: NodeStart, id: string): Claim | null {
    if (this.#member(start) === null) return null;
    this.accept({ id, mode: 'live', caller: '', retries: 0 });
    this.#session(id).status = 'running';
    return this.#give(id, start);
  }

  /** Where requests about a session are forwarded to. */
  homeOf(sessionId: string): NodeStart | null {
    const claim = this.claims.get(sessionId);
    return claim === undefined ? null : { id: claim.node, startToken: claim.startToken };
  }

  holds({ sessionId, token }: Claim): boolean {
    return this.#holds(sessionId, token);
  }

  expired(): readonly NodeStart[] {
    const nodes = [...this.#nodes.values()].filter(
      (node) => this.#isExpired(node) && (!node.lost || this.#claimsOf(node.id, node.startToken).length > 0),
    );
    return nodes.map(({ id, startToken }) => ({ id, startToken }));
  }

  takeOver(start: NodeStart, victim: NodeStart, limit: number): readonly Claim[] {
    const node = this.#nodes.get(victim.id);
    if (this.#member(start) === null || node === undefined) return [];
    if (this.#mutation !== 'sweep-guard') {
      if (node.startToken !== victim.startToken || !this.#isExpired(node)) return [];
    }
    if (!this.#clock.steps && this.#clock.trulyMs() - node.seenTrulyMs < this.#times.lostAfterMs) {
      this.violations.push(`${victim.id} was declared lost while it renewed`);
    }
    node.lost = true;
    return this.#claimsOf(victim.id, node.startToken)
      .slice(0, limit)
      .map(({ sessionId }) => this.#give(sessionId, start));
  }

  /** Null if the claim is gone. */
  read({
    sessionId,
    token,
  }: Claim): (Pick<ModelSession, 'mode' | 'phase' | 'retries' | 'attempt'> & { events: number }) | null {
    if (!this.#holds(sessionId, token)) return null;
    const { mode, phase, retries, attempt, events } = this.#session(sessionId);
    return { mode, phase, retries, attempt, events: events.length };
  }

  /** False if the token is no longer the claim's; nothing is then changed. */
  write({ sessionId, token }: Claim, write: ModelWrite): boolean {
    const rightful = this.#holds(sessionId, token);
    if (!rightful && this.#mutation !== 'token-check') return false;
    const session = this.#session(sessionId);
    if (!rightful) this.violations.push(`${sessionId}: a write (${write.kind}) by a former owner`);
    switch (write.kind) {
      case 'begin':
        if (session.mode === 'auto' && session.phase === 'flows') {
          session.flowsBegun += 1;
          session.phase = 'cut';
          if (session.flowsBegun > 1 + session.retries) this.violations.push(`${sessionId}: a flow was begun again`);
        }
        return true;
      case 'event': {
        const same = session.events.find(({ number }) => number === write.number);
        // A repetition of a write whose answer was lost.
        if (same?.token === token) return true;
        if (same !== undefined) this.violations.push(`${sessionId}: event ${write.number} twice`);
        else if (write.number !== session.events.length + 1) this.violations.push(`${sessionId}: a gap in its events`);
        session.events.push({ number: write.number, token });
        session.phase = write.phase ?? session.phase;
        return true;
      }
      case 'requeue':
        if (write.retry) {
          session.attempt += 1;
          session.phase = 'flows';
        }
        session.status = 'queued';
        this.claims.delete(sessionId);
        if (this.#queue.includes(sessionId)) this.violations.push(`${sessionId}: queued twice`);
        this.#queue.push(sessionId);
        return true;
      case 'end':
        session.ends += 1;
        if (session.ends > 1) this.violations.push(`${sessionId}: ended twice`);
        session.status = 'ended';
        this.claims.delete(sessionId);
        return true;
    }
  }

  get #nowMs(): number {
    return this.#clock.nowMs();
  }

  #holds(sessionId: string, token: string): boolean {
    return this.claims.get(sessionId)?.token === token;
  }

  #session(id: string): ModelSession {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Error(`There is no session ${id}`);
    return session;
  }

  #isExpired(node: ModelNode): boolean {
    return node.lost || this.#nowMs - node.seenMs >= this.#times.lostAfterMs;
  }

  #member(start: NodeStart): ModelNode | null {
    const node = this.#nodes.get(start.id);
    return node === undefined || node.lost || node.startToken !== start.startToken ? null : node;
  }

  #claimsOf(node: string, startToken: string | null): readonly ModelClaim[] {
    return [...this.claims.values()].filter(
      (claim) => claim.node === node && (startToken === null || claim.startToken === startToken),
    );
  }

  #give(sessionId: string, { id, startToken }: NodeStart): Claim {
    const token = `t${++this.#lastToken}`;
    this.claims.set(sessionId, { sessionId, token, node: id, startToken });
    return { sessionId, token };
  }
}
