import { setTimeout as pass } from 'node:timers/promises';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { type Answered, client } from '../../support/service.js';
import type { Balancer } from './balancer.js';

/** What a job does: a flow, a flow that looks first and has `retries`, or a model. */
export type JobKind = 'flow' | 'retried' | 'model';

/** A job that was accepted. */
export interface KnownJob {
  readonly id: string;
  /** In the order that it places. */
  readonly reference: string;
  readonly kind: JobKind;
}

/** A live session, as its client knows it. */
export interface KnownSession {
  readonly id: string;
  readonly node: string;
  /** When its client was first told NODE_LOST, by the monotonic clock; null before. */
  lostAtMs: number | null;
}

export interface LoadParts {
  readonly balancer: Balancer;
  /** Of the example shop, and of the page on which models order. */
  readonly shop: string;
  readonly page: string;
}

const ANSWER_MS = 60_000;
const RETRY_MS = 250;
/** A node is away for much less long. */
const ACCEPTED_MS = 240_000;
/** What may be asked again: nobody, or nobody with contact to the database, has answered. */
const MAY_REPEAT: ReadonlySet<number> = new Set([502, 503, 504]);
const BETWEEN_SCRIPTS_MS = 150;

/** Clients of several nodes that are reached through one address. */
export class ClusterLoad {
  readonly jobs: KnownJob[] = [];
  readonly counts = { repeats: 0, scripts: 0, sessions: 0 };
  readonly #parts: LoadParts;

  constructor(parts: LoadParts) {
    this.#parts = parts;
  }

  /** Submits a job until it is accepted; it is accepted once, since each try has the same key. */
  async submit(kind: JobKind): Promise<KnownJob> {
    const { shop, page } = this.#parts;
    const number = this.jobs.length + 1;
    const reference = `job-${number}`;
    const place = this.jobs.length;
    const args = { base: shop, reference, page };
    const body = {
      flow: { flowFiles: ['examples/buy.js'], maxIterations: 0, args },
      retried: { flowFiles: ['buy-once.js'], maxIterations: 0, retries: 10, args },
      model: { maxIterations: 20 },
    }[kind];
    const reserved: KnownJob = { id: '', reference, kind };
    this.jobs.push(reserved);
    const headers = { 'idempotency-key': `${reference}-${shop}` };
    const { body: record } = await this.until(201, (calls) =>
      calls.call('POST', '/api/jobs', { prompt: `Order for ${reference}.`, ...body }, { headers }),
    );
    const job = { ...reserved, id: record.id };
    this.jobs[place] = job;
    return job;
  }

  /** Opens a session, and runs scripts in it until the signal aborts or it is lost; then deletes it. */
  async live(over: AbortSignal, opened: (session: KnownSession) => void): Promise<KnownSession | null> {
    const { body } = await this.until(201, (calls) => calls.call('POST', '/api/sessions', {}), over);
    if (body === null) return null;
    const session: KnownSession = { id: body.id, node: body.node, lostAtMs: null };
    this.counts.sessions += 1;
    opened(session);
    while (!over.aborted) {
      const answer = await this.#asked((calls) => calls.run(session.id, '1 + 1'), over);
      if (answer?.body?.code === 'NODE_LOST') session.lostAtMs ??= performance.now();
      if (answer?.status === 200) this.counts.scripts += 1;
      if (session.lostAtMs !== null && (await this.record(session.id)).endedAt !== null) return session;
      await pass(BETWEEN_SCRIPTS_MS);
    }
    const record = await this.record(session.id);
    if (record.endedAt === null) {
      await this.until(200, (calls) => calls.call('DELETE', `/api/sessions/${session.id}`)).catch(() => undefined);
    }
    return session;
  }

  async record(id: string): Promise<SessionRecord> {
    return (await this.until(200, (calls) => calls.call('GET', `/api/sessions/${id}`))).body;
  }

  /** Asks again while no node answers. @throws an answer that must not be; `body` is null if the signal aborted */
  async until(
    status: number,
    ask: (calls: ReturnType<typeof client>) => Promise<Answered>,
    over?: AbortSignal,
  ): Promise<Answered> {
    const end = performance.now() + ACCEPTED_MS;
    for (;;) {
      const answer = await this.#asked(ask, over);
      if (answer?.status === status) return answer;
      if (answer !== null && !MAY_REPEAT.has(answer.status)) {
        throw new Error(`Answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`);
      }
      if (over?.aborted === true) return { status: 0, headers: new Headers(), body: null };
      if (performance.now() > end) throw new Error(`No ${status} within ${ACCEPTED_MS} ms: ${JSON.stringify(answer)}`);
      this.counts.repeats += 1;
      await pass(RETRY_MS);
    }
  }

  /** Null if there was no whole answer. */
  async #asked(
    ask: (calls: ReturnType<typeof client>) => Promise<Answered>,
    over?: AbortSignal,
  ): Promise<Answered | null> {
    if (over?.aborted === true) return null;
    const late = new AbortController();
    const answered = ask(client(this.#parts.balancer.url())).catch(() => null);
    const timer = pass(ANSWER_MS, null, { signal: late.signal }).catch(() => null);
    const answer = await Promise.race([answered, timer]);
    late.abort();
    return answer;
  }
}
