import { setTimeout as pass } from 'node:timers/promises';
import { leaseTimes } from '#troupe/cluster/lease-times.js';
import type { Nodes, RunningNode } from '../../cluster/running-nodes.js';
import { eventually } from '../../support/eventually.js';
import { query } from '../../support/test-store.js';
import { ClusterLoad, type JobKind, type KnownJob, type KnownSession, type LoadParts } from './cluster-load.js';
import type { Relay } from './relay.js';

/** What happens to the nodes in a round. */
export const FAULTS = [
  'kill',
  'freeze',
  'restart-database',
  'cut-connections',
  'unreachable',
  'rolling-update',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface ClusterPlan extends LoadParts {
  readonly nodes: Nodes;
  readonly ids: readonly string[];
  readonly settings: object;
  readonly relays: ReadonlyMap<string, Relay>;
  readonly leaseFactor: number;
  /** 0 to 1. */
  readonly random: () => number;
  /** Orders that models placed, by reference. */
  readonly orders: ReadonlyMap<string, number>;
}

const JOBS: readonly JobKind[] = ['flow', 'flow', 'flow', 'retried', 'model'];
const LIVE = 2;
const ENDS_MS = 300_000;
/** How much later than the lease says a client may hear of a node's loss, on a machine that has much else to do. */
const SLACK_MS = 15_000;
/** Ends of jobs, beside `completed`, whose node was lost or had no contact to the database. */
const MAY_FAIL: ReadonlySet<string> = new Set(['INTERRUPTED', 'NODE_LOST', 'WORKER_LOST']);

/**
 * Three nodes under load, to which something happens in each round. After each, every job that was accepted must have
 * ended, have ordered once at most, and once for certain if it completed; every event has one number; and clients of
 * lost sessions were told in time. What does not hold is thrown.
 */
export class ClusterKills {
  readonly counts = {
    completed: 0,
    INTERRUPTED: 0,
    NODE_LOST: 0,
    WORKER_LOST: 0,
    attempts: 0,
    lostLive: 0,
    slowestLostMs: 0,
  };
  readonly load: ClusterLoad;
  readonly #plan: ClusterPlan;
  readonly #times: ReturnType<typeof leaseTimes>;
  readonly #running = new Map<string, RunningNode>();
  #checked = 0;

  constructor(plan: ClusterPlan) {
    this.#plan = plan;
    this.load = new ClusterLoad(plan);
    this.#times = leaseTimes(plan.leaseFactor);
  }

  async start(): Promise<void> {
    await Promise.all(this.#plan.ids.map((id) => this.#start(id)));
  }

  async round(fault: Fault): Promise<void> {
    const over = new AbortController();
    const sessions: KnownSession[] = [];
    const live = Array.from({ length: LIVE }, () => this.load.live(over.signal, (session) => sessions.push(session)));
    const submitted = Promise.all(JOBS.map((kind) => this.#soon(() => this.load.submit(kind))));
    // Met where they are awaited.
    for (const work of [submitted, ...live]) work.catch(() => undefined);
    // There is something to lose.
    await eventually('live sessions are open', () => sessions.length === LIVE, ENDS_MS);
    await pass(this.#plan.random() * 3_000);
    // A live session that goes on keeps its node from leaving.
    if (fault === 'rolling-update') over.abort();
    const lost = await this.#happens(fault);
    await submitted;
    if (lost !== null) await this.#clientsAreTold(sessions, lost);
    over.abort();
    await Promise.all(live);
    await this.#allUp();
    const jobs = this.load.jobs.slice(this.#checked);
    this.#checked = this.load.jobs.length;
    await eventually('every job ends', () => this.#haveEnded(jobs), ENDS_MS);
    for (const job of jobs) await this.#check(job, fault);
    await this.#checkEvents();
  }

  /** What the nodes printed. */
  output(): string {
    return [...this.#running].map(([id, { process }]) => `${id}:\n${process.output().slice(-6_000)}`).join('\n');
  }

  /** Ends what is frozen or cut off, so that it can be stopped. Idempotent. */
  heal(): void {
    for (const { process } of this.#running.values()) process.child.kill('SIGCONT');
    for (const relay of this.#plan.relays.values()) relay.mode = 'open';
  }

  async #start(id: string): Promise<void> {
    this.#running.set(id, await this.#plan.nodes.start(id, this.#plan.settings));
  }

  async #soon<T>(work: () => Promise<T>): Promise<T> {
    await pass(this.#plan.random() * 6_000);
    return work();
  }

  #anyNode(): RunningNode {
    const nodes = [...this.#running.values()];
    const node = nodes[Math.floor(this.#plan.random() * nodes.length)];
    if (node === undefined) throw new Error('No node runs');
    return node;
  }

  /** @returns the node that was gone for longer than its lease, and since when */
  async #happens(fault: Fault): Promise<{ readonly id: string; readonly sinceMs: number } | null> {
    const { random, relays, nodes } = this.#plan;
    const { lostAfterMs } = this.#times;
    switch (fault) {
      case 'kill': {
        const { id, process } = this.#anyNode();
        const sinceMs = performance.now();
        await process.end('SIGKILL');
        const isLong = random() < 0.7;
        await pass(isLong ? 0 : random() * lostAfterMs);
        if (!isLong) await this.#start(id);
        return isLong ? { id, sinceMs } : null;
      }
      case 'freeze': {
        const { process } = this.#anyNode();
        process.child.kill('SIGSTOP');
        await pass((0.3 + 1.5 * random()) * lostAfterMs);
        process.child.kill('SIGCONT');
        return null;
      }
      case 'restart-database': {
        await nodes.server.stop(random() < 0.5 ? 'SIGINT' : 'SIGQUIT');
        await pass(random() * 1.2 * lostAfterMs);
        await nodes.server.start();
        return null;
      }
      case 'cut-connections':
        for (let times = 1 + Math.floor(random() * 5); times > 0; times -= 1) {
          await query(
            nodes.server.url('postgres'),
            "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
          );
          await pass(random() * 1_000);
        }
        return null;
      case 'unreachable': {
        const relay = relays.get(this.#anyNode().id);
        if (relay === undefined) throw new Error('No relay');
        relay.mode = random() < 0.5 ? 'refusing' : 'silent';
        await pass((0.5 + random()) * lostAfterMs);
        relay.mode = 'open';
        return null;
      }
      case 'rolling-update':
        for (const { id, process } of [...this.#running.values()]) {
          const more = Promise.all([this.load.submit('flow'), this.#soon(() => this.load.submit('flow'))]);
          more.catch(() => undefined);
          const { code } = await process.end('SIGTERM');
          if (code !== 0) throw new Error(`SIGTERM ended ${id} with ${code}: ${process.output().slice(-4_000)}`);
          await this.#start(id);
          await more;
        }
        return null;
    }
  }

  /** Clients whose node was killed get NODE_LOST; then it starts again. */
  async #clientsAreTold(
    sessions: readonly KnownSession[],
    { id, sinceMs }: { readonly id: string; readonly sinceMs: number },
  ): Promise<void> {
    const theirs = sessions.filter(({ node }) => node === id);
    const { lostAfterMs, renewEveryMs } = this.#times;
    const boundMs = lostAfterMs + 2 * renewEveryMs + SLACK_MS;
    await eventually('clients of a dead node get their errors', () =>
      theirs.every(({ lostAtMs }) => lostAtMs !== null),
    );
    for (const { id: session, lostAtMs } of theirs) {
      const tookMs = Math.round((lostAtMs ?? Number.POSITIVE_INFINITY) - sinceMs);
      this.counts.slowestLostMs = Math.max(this.counts.slowestLostMs, tookMs);
      if (tookMs > boundMs) throw new Error(`The client of ${session} got its error after ${tookMs} ms`);
      const isOver = async () => (await this.load.record(session)).endedAt !== null;
      await eventually('its record says so', isOver);
      const { status, error } = await this.load.record(session);
      if (status !== 'failed' || error?.code !== 'NODE_LOST') {
        throw new Error(`A live session of a dead node is ${status}: ${JSON.stringify(error)}`);
      }
      this.counts.lostLive += 1;
    }
    await this.#start(id);
  }

  async #allUp(): Promise<void> {
    for (const { id, process } of this.#running.values()) {
      const { exitCode, signalCode } = process.child;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`The node ${id} has ended: ${process.output().slice(-4_000)}`);
      }
    }
    const isUp = async () => {
      const { body } = await this.load.until(200, (calls) => calls.call('GET', '/api/nodes'));
      return body.filter(({ state }: { state: string }) => state === 'up').length === this.#plan.ids.length;
    };
    await eventually('all nodes are up', isUp);
  }

  async #haveEnded(jobs: readonly KnownJob[]): Promise<boolean> {
    for (const { id } of jobs) if ((await this.load.record(id)).endedAt === null) return false;
    return true;
  }

  async #check({ id, reference, kind }: KnownJob, fault: Fault): Promise<void> {
    const record = await this.load.record(id);
    const end = record.status === 'failed' ? (record.error?.code ?? '') : record.status;
    const what = `${kind} ${id} ended ${end} (${record.error?.error ?? ''}), attempt ${record.attempt}, on ${record.node}`;
    if (end !== 'completed' && !MAY_FAIL.has(end)) throw new Error(`${what}: it may not`);
    if (end !== 'completed' && fault === 'rolling-update') throw new Error(`${what}, in a rolling update`);
    this.counts[end as 'completed' | 'INTERRUPTED'] += 1;
    this.counts.attempts += record.attempt;
    const orders = kind === 'model' ? (this.#plan.orders.get(reference) ?? 0) : await this.#ordersOf(reference);
    if (orders > 1 || (end === 'completed' && orders !== 1)) throw new Error(`${what}, with ${orders} orders`);
    const { rows } = await query(
      this.#plan.nodes.database,
      'select type, count(*)::int as count from events where session_id = $1 group by 1',
      [id],
    );
    const types = new Map<string, number>(rows.map((row) => [row.type, row.count]));
    if (types.get('SessionEnded') !== 1)
      throw new Error(`${what}, and its end was written ${types.get('SessionEnded')} times`);
    if (end === 'INTERRUPTED' && !types.has('SessionStarted')) throw new Error(`${what}, though it had not begun`);
  }

  async #ordersOf(reference: string): Promise<number> {
    const answer: unknown = await (await fetch(`${this.#plan.shop}/api/orders?reference=${reference}`)).json();
    return Array.isArray(answer) ? answer.length : -1;
  }

  /** No claim is left over, no event's number is missing or used twice, and streams of all nodes say the same. */
  async #checkEvents(): Promise<void> {
    const { rows } = await query(
      this.#plan.nodes.database,
      'select count(*)::int as count, coalesce(max(seq), 0)::int as last, count(distinct seq)::int as numbers from events',
    );
    const [{ count, last, numbers }] = rows;
    if (count !== last || count !== numbers) throw new Error(`${count} events have ${numbers} numbers up to ${last}`);
    const free = async () =>
      (await query(this.#plan.nodes.database, 'select count(*)::int as count from cluster_claims')).rows[0].count === 0;
    // A live session whose client got no answer goes by itself when it is idle.
    await eventually('no claim is left', free, ENDS_MS);
  }
}
