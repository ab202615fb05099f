import { afterLoss } from '#troupe/cluster/after-loss.js';
import type { Claim, NodeDescription } from '#troupe/cluster/cluster-store.js';
import { ForwardSeal } from '#troupe/cluster/forward-seal.js';
import type { LeaseTimes } from '#troupe/cluster/lease-times.js';
import { type NodeEffect, type NodeEvent, NodeMachine, type StoreCall } from '#troupe/cluster/node-machine.js';
import type { ModelStore, ModelWrite, Mutation } from './model-store.js';
import type { Chance, VirtualTime } from './virtual-time.js';

const CLUSTER_KEY = Buffer.alloc(32, 7);
const SLOTS = 3;
const FLOW_STEPS = 2;
const MODEL_STEPS = 2;
/** A live session ends after so many steps. */
const LIVE_STEPS = 6;

export interface World {
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly store: ModelStore;
  readonly times: LeaseTimes;
  readonly mutation: Mutation | undefined;
  /** The database's clock is stepped, or machines are suspended: then only the tokens protect. */
  readonly steps: boolean;
  readonly violations: string[];
  /** How often each client's request was carried out. */
  readonly carriedOut: Map<number, number>;
}

/** A session's work on a node. */
interface Actor {
  readonly claim: Claim;
  events: number;
}

/** One start of a service: the real state machine and the real seal, in a process that can crash, freeze and be cut off. */
export class ModelProcess {
  readonly machine: NodeMachine;
  readonly id: string;
  readonly home: string;
  alive = true;
  frozenUntilMs = 0;
  cutOffUntilMs = 0;
  /** Of the wall clock, which the seal uses. */
  wallOffsetMs: number;
  readonly #world: World;
  readonly #seal: ForwardSeal;
  readonly #actors = new Map<string, Actor>();
  /** The monotonic clock's rate and start. */
  readonly #rate: number;
  #monotonicOffsetMs: number;
  #tickAtMs = Number.POSITIVE_INFINITY;

  constructor(world: World, id: string, home: string) {
    this.#world = world;
    this.id = id;
    this.home = home;
    const { chance, mutation, times, time } = world;
    this.#rate = chance.between(0.97, 1.03);
    this.#monotonicOffsetMs = chance.between(0, 1e6);
    this.wallOffsetMs = chance.between(-2_000, 2_000);
    const fenceAfterMs = mutation === 'renewal-bound' ? Number.POSITIVE_INFINITY : times.fenceAfterMs;
    this.machine = new NodeMachine({
      id,
      slots: SLOTS,
      times: { ...times, fenceAfterMs },
      newToken: () => `${id}-${chance.next().toString(36).slice(2)}`,
    });
    const clock = { now: () => new Date(1_700_000_000_000 + time.nowMs + this.wallOffsetMs) };
    const forgetful = { accept: () => true };
    this.#seal = new ForwardSeal(CLUSTER_KEY, { clock, ...(mutation === 'nonce' ? { nonces: forgetful } : {}) });
    this.#handle({ kind: 'tick' });
  }

  get isFrozen(): boolean {
    return this.#world.time.nowMs < this.frozenUntilMs;
  }

  crash(): void {
    this.alive = false;
    this.#actors.clear();
  }

  /** @param suspended the monotonic clock stands still too, as in a suspended machine */
  freeze(ms: number, suspended: boolean): void {
    const { time } = this.#world;
    const more = Math.max(0, time.nowMs + ms - Math.max(time.nowMs, this.frozenUntilMs));
    this.frozenUntilMs = Math.max(this.frozenUntilMs, time.nowMs + ms);
    if (suspended) this.#monotonicOffsetMs -= more * this.#rate;
  }

  createLive(sessionId: string): void {
    this.#handle({ kind: 'creating', sessionId });
    if (!this.machine.holdsPending(sessionId)) return;
    const { start } = this.machine;
    this.#call(
      (store) => store.create(start, sessionId),
      (claim) => {
        if (claim === null) return this.#handle({ kind: 'notCreated', sessionId });
        if (!this.machine.holdsPending(sessionId)) return;
        this.#handle({ kind: 'created', claim });
        // It has found out with this answer that it was frozen, and has stopped all of this start.
        if (this.machine.start.startToken !== start.startToken) return;
        this.#actors.set(sessionId, { claim, events: 0 });
        this.#liveStep({ claim, steps: LIVE_STEPS });
      },
      () => this.#handle({ kind: 'notCreated', sessionId }),
    );
  }

  /** A client's request about a session arrives at this node. */
  request(request: number, sessionId: string, nodes: () => readonly ModelProcess[]): void {
    const { chance, time, store } = this.#world;
    this.#call(
      () => store.homeOf(sessionId),
      (home) => {
        if (home === null) return;
        const path = `/sessions/${sessionId}/proxy?${request}`;
        const asked = { caller: 'c', role: 'run', session: null, method: 'POST', path } as const;
        const header = this.#seal.seal(home.startToken, asked);
        // The network may repeat what it carries, also much later, and to another node.
        const copies = chance.once(0.3) ? 3 : 1;
        for (let copy = 0; copy < copies; copy += 1) {
          const others = nodes().filter(({ id }) => (copy === 2 ? true : id === home.id));
          const receiver = others[chance.below(others.length)];
          const delay = copy === 0 ? chance.between(1, 50) : chance.between(1, 70_000);
          time.after(delay, () => receiver?.receive(request, sessionId, { header, path }));
        }
      },
    );
  }

  receive(
    request: number,
    sessionId: string,
    { header, path }: { readonly header: string; readonly path: string },
  ): void {
    this.#awake(() => {
      try {
        this.#seal.open(header, this.machine.start.startToken, { method: 'POST', path });
      } catch {
        return;
      }
      if (!this.#actors.has(sessionId) || !this.machine.mayAct(this.#nowMs)) return;
      const { carriedOut, violations } = this.#world;
      const times = (carriedOut.get(request) ?? 0) + 1;
      carriedOut.set(request, times);
      if (times > 1) violations.push(`request ${request} was carried out ${times} times`);
    });
  }

  get #nowMs(): number {
    return this.#world.time.nowMs * this.#rate + this.#monotonicOffsetMs;
  }

  /** Runs the work if the process is alive, and once it is awake. */
  #awake(work: () => void): void {
    if (!this.alive) return;
    const { time, chance } = this.#world;
    if (!this.isFrozen) work();
    else time.after(this.frozenUntilMs - time.nowMs + chance.between(0, 5), () => this.#awake(work));
  }

  #handle(event: NodeEvent): void {
    for (const effect of this.machine.handle(event, this.#nowMs)) this.#do(effect);
    this.#plan();
  }

  #plan(): void {
    const { time } = this.#world;
    // At least a millisecond, as real timers: a rounded instant may be just before its time.
    const atMs = time.nowMs + Math.max(1, (this.machine.dueAtMs - this.#nowMs) / this.#rate);
    if (!(atMs < this.#tickAtMs)) return;
    this.#tickAtMs = atMs;
    time.after(atMs - time.nowMs, () =>
      this.#awake(() => {
        if (this.#tickAtMs !== atMs) return;
        this.#tickAtMs = Number.POSITIVE_INFINITY;
        this.#handle({ kind: 'tick' });
      }),
    );
  }

  #do(effect: NodeEffect): void {
    const { time, chance } = this.#world;
    switch (effect.kind) {
      case 'run':
      case 'recover':
        this.#begin(effect.claim, effect.kind === 'recover');
        return;
      case 'stop':
        this.#actors.clear();
        time.after(chance.between(10, 1_500), () => this.#awake(() => this.#handle({ kind: 'stopped' })));
        return;
      case 'ended':
        this.crash();
        return;
      default:
        this.#ask(effect.kind, effect);
    }
  }

  #ask(call: StoreCall, { start, count }: Extract<NodeEffect, { kind: StoreCall }>): void {
    const { startToken } = start;
    const failed = () => this.#handle({ kind: 'callFailed', startToken, call });
    switch (call) {
      case 'register': {
        const description: NodeDescription = {
          ...start,
          home: this.home,
          url: '',
          version: '',
          schema: 1,
          slots: SLOTS,
          keyFingerprint: '',
        };
        const answered = (answer: ReturnType<ModelStore['register']>) =>
          this.#handle({ kind: 'registered', startToken, answer });
        this.#call(
          (store) => store.startOf(start.id),
          (former) => this.#call((store) => store.register(description, former), answered, failed),
          failed,
        );
        return;
      }
      case 'renew':
        this.#call(
          (store) => store.renew(start),
          (answer) => this.#handle({ kind: 'renewed', startToken, answer }),
          failed,
        );
        return;
      case 'claim':
        this.#call(
          (store) => store.claim(start, count),
          (claims) => this.#handle({ kind: 'claimed', startToken, claims }),
          failed,
        );
        return;
      case 'sweep':
        this.#call(
          (store) => store.expired(),
          ([victim]) => {
            if (victim === undefined) return this.#handle({ kind: 'swept', startToken, inherited: [] });
            const swept = (inherited: readonly Claim[]) => this.#handle({ kind: 'swept', startToken, inherited });
            this.#call((store) => store.takeOver(start, victim, 5), swept, failed);
          },
          failed,
        );
        return;
      case 'leave':
        this.#handle({ kind: 'left', startToken, done: false });
    }
  }

  /** A transaction over a network that may delay or lose request and answer. After a timeout, it may have been executed. */
  #call<T>(
    transaction: (store: ModelStore) => T,
    answered: (result: T) => void,
    failed: () => void = () => undefined,
  ): void {
    const { time, chance, store, times } = this.#world;
    const delay = () => (chance.once(0.02) ? chance.between(500, 2 * times.callTimeoutMs) : chance.between(1, 30));
    const isCutOff = () => time.nowMs < this.cutOffUntilMs;
    let over = false;
    const settle = (work: () => void) => () =>
      this.#awake(() => {
        if (over) return;
        over = true;
        work();
      });
    time.after(delay(), () => {
      if (isCutOff()) return;
      const result = transaction(store);
      time.after(delay(), () => (isCutOff() ? undefined : settle(() => answered(result))()));
    });
    time.after(times.callTimeoutMs / this.#rate, settle(failed));
  }

  /** Repeats a call about a session until it is answered, or the session was stopped here. */
  #insist<T>(
    { claim }: { readonly claim: Claim },
    transaction: (store: ModelStore) => T,
    then: (result: T) => void,
  ): void {
    if (this.#actors.get(claim.sessionId)?.claim.token !== claim.token) return;
    const current = (work: () => void) => () => {
      if (this.#actors.get(claim.sessionId)?.claim.token === claim.token) work();
    };
    this.#call(
      transaction,
      (result) => current(() => then(result))(),
      current(() => this.#insist({ claim }, transaction, then)),
    );
  }

  #write(actor: { readonly claim: Claim }, write: ModelWrite, then: () => void): void {
    this.#insist(
      actor,
      (store) => store.write(actor.claim, write),
      (done) => (done ? then() : this.#release(actor.claim)),
    );
  }

  #release(claim: Claim): void {
    this.#actors.delete(claim.sessionId);
    this.#handle({ kind: 'released', claim });
  }

  #begin(claim: Claim, isLost: boolean): void {
    const actor: Actor = { claim, events: 0 };
    this.#actors.set(claim.sessionId, actor);
    this.#insist(
      actor,
      (store) => store.read(claim),
      (found) => {
        if (found === null) return this.#release(claim);
        actor.events = found.events;
        const { mode, phase, retries, attempt } = found;
        const end = () => this.#write(actor, { kind: 'end' }, () => this.#release(claim));
        const requeue = (retry: boolean) => this.#write(actor, { kind: 'requeue', retry }, () => this.#release(claim));
        if (!isLost) {
          if (phase === 'flows') return this.#write(actor, { kind: 'begin' }, () => this.#flowStep(actor, FLOW_STEPS));
          if (phase === 'model') return this.#modelStep(actor, MODEL_STEPS);
          if (phase === 'over') return end();
        }
        const outcome = afterLoss(mode, { phase, retriesLeft: retries - attempt + 1 });
        if (outcome === 'requeue' || outcome === 'continue') return requeue(false);
        if (outcome === 'retry') return requeue(true);
        return end();
      },
    );
  }

  #flowStep(actor: Actor, left: number): void {
    const next = left > 1 ? () => this.#flowStep(actor, left - 1) : () => this.#modelStep(actor, MODEL_STEPS);
    this.#step(actor, left > 1 ? {} : { phase: 'model' }, next);
  }

  #modelStep(actor: Actor, left: number): void {
    const next = () =>
      left > 1
        ? this.#modelStep(actor, left - 1)
        : this.#write(actor, { kind: 'end' }, () => this.#release(actor.claim));
    this.#step(actor, left > 1 ? {} : { phase: 'over' }, next);
  }

  #liveStep({ claim, steps }: { readonly claim: Claim; readonly steps: number }): void {
    const actor = this.#actors.get(claim.sessionId);
    if (actor === undefined) return;
    const next = () =>
      steps > 1
        ? this.#liveStep({ claim, steps: steps - 1 })
        : this.#write(actor, { kind: 'end' }, () => this.#release(claim));
    this.#step(actor, {}, next);
  }

  /** Acts on the page, then writes the event. */
  #step(actor: Actor, change: Omit<Extract<ModelWrite, { kind: 'event' }>, 'kind' | 'number'>, next: () => void): void {
    const { time, chance, store, violations, steps } = this.#world;
    const { claim } = actor;
    time.after(chance.between(500, 8_000), () =>
      this.#awake(() => {
        if (this.#actors.get(claim.sessionId) !== actor) return;
        // Fenced: the next tick stops the actor.
        if (!this.machine.mayAct(this.#nowMs)) return;
        if (!steps && !store.holds(claim)) violations.push(`${claim.sessionId}: its former owner acts`);
        actor.events += 1;
        this.#write(actor, { kind: 'event', number: actor.events, ...change }, next);
      }),
    );
  }
}
