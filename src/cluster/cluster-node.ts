import { randomUUID } from 'node:crypto';
import { assertNever } from '../base/assert-never.js';
import { pause, withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { SharedDeadline } from '../base/shared-deadline.js';
import { sentenceOf } from '../base/system-fault.js';
import { connectPostgres, type PostgresDatabase } from '../journal/postgres/connect-postgres.js';
import { explainPostgresError } from '../journal/postgres/postgres-errors.js';
import type { Schema } from '../journal/schema.js';
import { TroupeError } from '../protocol/errors.js';
import { CallerUsage } from './caller-usage.js';
import { ClaimBook } from './claim-book.js';
import type { Claim, NodeDescription, NodeStart, NodeStatus } from './cluster-store.js';
import type { LeaseTimes } from './lease-times.js';
import { type NodeEffect, type NodeEvent, NodeMachine, type StoreCall } from './node-machine.js';
import { nodeRefusal } from './node-refusal.js';
import type { NodeWork } from './node-work.js';
import { type NodeAddress, PostgresClusterStore } from './postgres-cluster-store.js';

/** Renewals and claims must not wait behind each other, nor behind questions of requests. */
const CONNECTIONS = 4;
/** Claims of a lost node that one sweep takes over. */
const SWEPT_AT_ONCE = 100;
/** How often a node looks for events of others, in milliseconds. */
const NEWS_EVERY_MS = 200;
const LEAVE_TRIES = 3;

export interface ClusterNodeParts {
  readonly url: string;
  readonly node: Omit<NodeDescription, 'startToken'>;
  readonly times: LeaseTimes;
  readonly log: (line: string) => void;
}

/**
 * This service as one of several that share a database. Runs {@link NodeMachine}: calls the store, keeps the times, and
 * tells the supervisor what to do. The service owns it, and must close it.
 */
export class ClusterNode {
  readonly book: ClaimBook;
  readonly callers: CallerUsage;
  /** When sessions of this node must not act any more: {@link mayAct}, for their threads. */
  readonly actsUntil = new SharedDeadline();
  /** Resolves when this node has left, because it was drained by request, or was refused. Never rejects. */
  readonly left: Promise<TroupeError | 'left'>;
  readonly #parts: ClusterNodeParts;
  readonly #database: PostgresDatabase<Schema>;
  readonly #store: PostgresClusterStore;
  readonly #machine: NodeMachine;
  readonly #left = deferred<TroupeError | 'left'>();
  readonly #joined = deferred<void>();
  readonly #closed = new AbortController();
  readonly #calls = new Set<Promise<void>>();
  /** Until {@link serve}: claims of the former start. */
  #inherited: Claim[] = [];
  #work: NodeWork | null = null;
  #slots = 0;
  #timer: NodeJS.Timeout | undefined;
  #load = { queued: 0, claimed: 0 };
  #doesChores = false;
  #draining = false;
  #news: Promise<void> = Promise.resolve();
  #handoffs: ReadonlyMap<string, string> = new Map();

  private constructor(parts: ClusterNodeParts) {
    this.#parts = parts;
    this.left = this.#left.promise;
    this.#database = connectPostgres<Schema>({ url: parts.url, connections: CONNECTIONS, name: 'troupe node' });
    this.callers = new CallerUsage(this.#database.kysely);
    this.#store = new PostgresClusterStore(this.#database.kysely, parts.times);
    const slots = () => this.#slots;
    this.#machine = new NodeMachine({
      id: parts.node.id,
      times: parts.times,
      newToken: randomUUID,
      get slots() {
        return slots();
      },
    });
    this.book = new ClaimBook({
      start: () => this.#machine.start,
      newToken: randomUUID,
      created: (claim) => this.#handle({ kind: 'created', claim }),
      lost: (sessionId) => this.#work?.lost(sessionId),
    });
  }

  /**
   * Registers, in place of an earlier start on the same home.
   * @throws UNAVAILABLE if the id is in use elsewhere, the key is another one, or the database does not answer in time
   */
  static async join(parts: ClusterNodeParts): Promise<ClusterNode> {
    const node = new ClusterNode(parts);
    try {
      node.#handle({ kind: 'tick' });
      const ms = 3 * parts.times.lostAfterMs;
      const late = () => new TroupeError('UNAVAILABLE', 'The database did not register this node in time');
      const refused = node.left.then((why) => (why instanceof Error ? Promise.reject(why) : undefined));
      await withDeadline(Promise.race([node.#joined.promise, refused]), { ms, late });
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  get id(): string {
    return this.#parts.node.id;
  }

  get start(): NodeStart {
    return this.#machine.start;
  }

  /** Jobs that wait for any node, as of a few seconds ago. */
  get queued(): number {
    return this.#load.queued;
  }

  /** Jobs that wait and sessions that run on all nodes, as of a few seconds ago. */
  get demand(): number {
    return this.#load.queued + this.#load.claimed;
  }

  /** Whether this node does the chores of all, such as retention. */
  get doesChores(): boolean {
    return this.#doesChores;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** False if this node must not act on its sessions, because others may have taken them over. */
  get mayAct(): boolean {
    return this.#machine.mayAct(performance.now());
  }

  /** Claims of the former start on this home, for recovery; once. */
  takeInherited(): readonly Claim[] {
    const inherited = this.#inherited;
    this.#inherited = [];
    return inherited;
  }

  /** Claims jobs from now on. */
  serve(work: NodeWork): void {
    this.#work = work;
    this.#slots = this.#parts.node.slots;
    for (const claim of this.takeInherited()) work.recover(claim);
    this.#handle({ kind: 'hint' });
    this.#news = this.#followNews(work);
    void this.#refresh();
  }

  /** A job was queued: a free slot takes it at once. */
  hint(): void {
    this.#handle({ kind: 'hint' });
  }

  /** @throws UNAVAILABLE if no live session can be accepted here */
  assertAccepts(): void {
    if (this.#draining) throw new TroupeError('UNAVAILABLE', `The node ${this.id} is being drained; ask another one`);
    if (!this.mayAct) throw new TroupeError('UNAVAILABLE', `The node ${this.id} has no contact to the database`);
  }

  /** A live session gets a slot, and will be accepted here. If it then may not be, its acceptance is refused. */
  creating(sessionId: string): void {
    this.#handle({ kind: 'creating', sessionId });
  }

  /** It was not accepted. */
  notCreated(sessionId: string): void {
    this.#handle({ kind: 'notCreated', sessionId });
  }

  /** The session has ended here, was queued again, or was lost, and its browser is gone. */
  release(sessionId: string): void {
    const claim = this.book.remove(sessionId);
    if (claim !== null) this.#handle({ kind: 'released', claim });
  }

  /** Gives up a claim whose session is gone or has ended. Never rejects: the next renewal names the claim again. */
  async drop(claim: Claim): Promise<void> {
    await this.#store.drop(claim).catch((error) => this.#parts.log(`a claim stays for now: ${sentenceOf(error)}`));
    this.release(claim.sessionId);
  }

  /** Claims a queued job, to end it; false if it is not queued any more. @throws UNAVAILABLE */
  async take(sessionId: string): Promise<boolean> {
    this.#handle({ kind: 'creating', sessionId });
    let claim: Claim | null = null;
    try {
      if (this.#machine.holdsPending(sessionId)) {
        claim = await this.#answered(this.#store.take(this.start, sessionId));
      }
    } finally {
      // If the answer was lost, the next renewal names the claim.
      if (claim === null) this.notCreated(sessionId);
    }
    if (claim === null) return false;
    this.book.add(claim);
    this.#handle({ kind: 'created', claim });
    return true;
  }

  /** The node that has claimed a session; null if none has. @throws UNAVAILABLE */
  holder(sessionId: string): Promise<NodeAddress | null> {
    return this.#answered(this.#store.holder(sessionId));
  }

  /** Null if there is no such node. @throws UNAVAILABLE */
  address(id: string): Promise<NodeAddress | null> {
    return this.#answered(this.#store.address(id));
  }

  /** The open handoff of a session of any node, as of a moment ago; null if there is none. */
  openHandoff(sessionId: string): string | null {
    return this.#handoffs.get(sessionId) ?? null;
  }

  /** The newest event's number, of all nodes. @throws UNAVAILABLE */
  newestSeq(): Promise<number> {
    return this.#answered(this.#store.lastSeq());
  }

  /** @throws UNAVAILABLE */
  nodes(): Promise<readonly NodeStatus[]> {
    return this.#answered(this.#store.nodes());
  }

  /** False if there is no such node, or it is lost. @throws UNAVAILABLE */
  async drain(id: string): Promise<boolean> {
    const found = await this.#answered(this.#store.drain(id));
    if (found && id === this.id) this.drainSelf();
    return found;
  }

  /** False if it is not lost, or still has claims. @throws UNAVAILABLE */
  remove(id: string): Promise<boolean> {
    return this.#answered(this.#store.remove(id));
  }

  /** Claims nothing more. The node leaves once it has no claims. */
  drainSelf(): void {
    this.#draining = true;
    this.#handle({ kind: 'drain' });
    // Others then show it, and send it nothing.
    this.#store.drain(this.id).catch(() => undefined);
  }

  /** Leaves, if no claims are left, and closes the connections. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    clearTimeout(this.#timer);
    await Promise.all([this.#news, ...this.#calls]);
    for (let tries = LEAVE_TRIES; tries > 0 && this.#machine.state === 'up'; tries -= 1) {
      const left = this.#store.giveBack(this.start).then(() => this.#store.leave(this.start));
      if ((await left.catch(() => null)) !== null) break;
    }
    await this.#database.close();
  }

  /** An answer of the database, for a request. @throws UNAVAILABLE if it is away */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw explainPostgresError(this.#parts.url, error);
    }
  }

  #handle(event: NodeEvent): void {
    const effects = this.#machine.handle(event, performance.now());
    this.actsUntil.leftMs = this.#machine.actsUntilMs - performance.now();
    for (const effect of effects) this.#do(effect);
    clearTimeout(this.#timer);
    const dueMs = this.#machine.dueAtMs - performance.now();
    if (this.#closed.signal.aborted || dueMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#handle({ kind: 'tick' }), Math.max(0, dueMs));
  }

  #do(effect: NodeEffect): void {
    switch (effect.kind) {
      case 'run':
      case 'recover':
        this.book.add(effect.claim);
        if (this.#work === null) this.#inherited.push(effect.claim);
        else if (effect.kind === 'run') this.#work.run(effect.claim);
        else this.#work.recover(effect.claim);
        return;
      case 'stop':
        void this.#fence();
        return;
      case 'ended':
        this.#left.resolve(effect.reason === 'left' ? 'left' : nodeRefusal(effect.reason, this.id));
        return;
      case 'register':
      case 'renew':
      case 'claim':
      case 'sweep':
      case 'leave':
        this.#call(effect.kind, effect.start, effect.count);
        return;
      default:
        assertNever(effect);
    }
  }

  async #fence(): Promise<void> {
    this.#parts.log('no contact to the database for too long: all sessions of this node end here');
    this.book.clear();
    this.#inherited = [];
    await this.#work?.stop();
    this.#handle({ kind: 'stopped' });
  }

  #call(call: StoreCall, start: NodeStart, count: number): void {
    if (this.#closed.signal.aborted) return;
    const { startToken } = start;
    const ms = this.#parts.times.callTimeoutMs;
    const late = () => new TroupeError('UNAVAILABLE', `The database did not answer within ${ms} ms`);
    const answered = withDeadline(this.#ask(call, start, count), { ms, late }).then(
      (event) => {
        this.#handle(event);
        if (call === 'register' && this.#machine.state === 'up') this.#joined.resolve();
        if (call === 'renew') void this.#refresh();
      },
      (error: unknown) => {
        if (call !== 'claim') this.#parts.log(`the database did not take a ${call}: ${sentenceOf(error)}`);
        this.#handle({ kind: 'callFailed', startToken, call });
      },
    );
    const settled = answered.finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);
  }

  async #ask(call: StoreCall, start: NodeStart, count: number): Promise<NodeEvent> {
    const store = this.#store;
    const { startToken } = start;
    switch (call) {
      case 'register': {
        const former = await store.startOf(start.id);
        return {
          kind: 'registered',
          startToken,
          answer: await store.register({ ...this.#parts.node, ...start }, former),
        };
      }
      case 'renew': {
        const answer = await store.renew(start);
        if (answer.kind === 'renewed') this.#draining ||= answer.draining;
        return { kind: 'renewed', startToken, answer };
      }
      case 'claim':
        return {
          kind: 'claimed',
          startToken,
          claims: await store.claim(start, count, {
            maxRunning: (caller) => this.#work?.maxRunning(caller),
          }),
        };
      case 'sweep': {
        const inherited: Claim[] = [];
        for (const victim of await store.expired()) {
          inherited.push(...(await store.takeOver(start, victim, SWEPT_AT_ONCE)));
        }
        return { kind: 'swept', startToken, inherited };
      }
      case 'leave':
        return { kind: 'left', startToken, done: await store.leave(start) };
      default:
        return assertNever(call);
    }
  }

  /** Never rejects. */
  async #refresh(): Promise<void> {
    const work = this.#work;
    if (work === null || this.#closed.signal.aborted) return;
    try {
      this.#load = await this.#store.load();
      this.#doesChores = this.mayAct && !this.#draining && (await this.#store.holdChores(this.start));
    } catch {
      // The database is away; as long as it is, no chore can be done.
      this.#doesChores = false;
    }
    if (!this.#closed.signal.aborted) work.renewed({ doesChores: this.#doesChores });
  }

  /** Never rejects. A database that is away is tried again. */
  async #followNews(work: NodeWork): Promise<void> {
    const { signal } = this.#closed;
    for (let known: number | null = null; !signal.aborted; ) {
      const lastSeq = await this.#store.lastSeq().catch(() => null);
      if (lastSeq !== null && lastSeq !== known) {
        this.#handoffs = await this.#store.openHandoffs().catch(() => this.#handoffs);
        work.news(lastSeq);
      }
      known = lastSeq;
      await pause(NEWS_EVERY_MS, { signal }).catch(() => undefined);
    }
  }
}
