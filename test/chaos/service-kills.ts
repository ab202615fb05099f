import { setTimeout as pass } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { type Answered, client } from '../support/service.js';
import { type ServiceProcess, spawnService } from '../support/service-process.js';
import { SeenEvents } from './seen-events.js';

/** How hard a service is tried. */
export interface KillPlan {
  /** Live sessions and jobs under way in each round. */
  readonly live: number;
  readonly jobs: number;
  /** The longest that a service lives in one round, in milliseconds. */
  readonly lifeMs: number;
  /** Half of the texts are typed by Playwright, and all are read by it too. */
  readonly withPage: boolean;
  /** 0 to 1. */
  readonly random: () => number;
  readonly home: string;
  /** Where the example shop is. */
  readonly shop: string;
}

/** What a client knows of a live session: the text that stands in its page for certain, and what may stand there. */
interface KnownSession {
  typed: string | null;
  typing: string | null;
}

/** What a client knows of a job; `reference` is in the order that it places. `id` is null while no answer came. */
interface KnownJob {
  readonly reference: string;
  id: string | null;
  /** The first end that was read: it must stay what it is. */
  ended: string | null;
}

const FORM = 'data:text/html,<title>form</title><input aria-label=Name>';
const ENDS_MS = 240_000;
/** Between two looks at a job that has not ended. */
const LOOK_MS = 100;
/** One kill of so many hits a service that has not said yet that it listens. */
const EARLY_KILLS = 0.2;
/** And so many one whose sessions are all open. */
const LATE_KILLS = 0.8;

type Calls = ReturnType<typeof client>;

/**
 * A service that is killed with SIGKILL again and again while clients use it, and what those clients were told. Each
 * round ends with a fresh service that is asked whether all of it still holds (spec, section 4). What does not is
 * thrown, with what the service printed.
 */
export class ServiceKills {
  readonly #seen = new SeenEvents();
  /** For people: what the rounds came to. */
  readonly counts = { kills: 0, adopted: 0, scripts: 0, completed: 0, interrupted: 0, slowestStartMs: 0 };
  readonly #plan: KillPlan;
  readonly #sessions = new Map<string, KnownSession>();
  readonly #jobs: KnownJob[] = [];
  #service: Omit<ServiceProcess, 'url'> | undefined;
  #calls: Calls | undefined;

  constructor(plan: KillPlan) {
    this.#plan = plan;
  }

  /** Work, a kill in the middle of it, a fresh service, and a look at what it took up. */
  async round(): Promise<void> {
    const calls = await this.#start();
    const killed = new AbortController();
    const reader = await this.#seen.follow(calls.url);
    const { opened, done } = this.#work(calls, killed.signal);
    const { random, lifeMs } = this.#plan;
    // Most often when there is something to lose.
    if (random() < LATE_KILLS) await within(opened, lifeMs);
    await within(done, random() * lifeMs);
    killed.abort();
    await this.#kill();
    await done;
    this.#seen.take(reader);
    await this.#takenUp(await this.#start());
  }

  /** Every job ends, and is what it says: its orders, its events, its record. Then the service is stopped in order. */
  async finish(): Promise<void> {
    const calls = await this.#start();
    const unended = () => this.#jobs.filter(({ id, ended }) => id !== null && ended === null);
    const read = async () => {
      for (const job of unended()) await this.#readJob(calls, job);
      return unended().length === 0;
    };
    await eventually('every job ends', read, ENDS_MS);
    for (const job of this.#jobs) await this.#checkOrders(job);
    for (const id of [...this.#sessions.keys(), ...this.#jobs.map((job) => job.id)]) {
      if (id !== null) await this.#seen.compare(calls.url, id);
    }
    const ended = await this.#service?.end('SIGTERM');
    if (ended?.code !== 0) throw this.#broken(`SIGTERM ended the service with ${JSON.stringify(ended)}`);
  }

  /** Whatever is still there is ended. Idempotent. */
  async stop(): Promise<void> {
    await this.#service?.end('SIGKILL');
  }

  async #start(): Promise<Calls> {
    if (this.#calls !== undefined) return this.#calls;
    while (this.#plan.random() < EARLY_KILLS) {
      this.#service = spawnService(this.#plan.home);
      await pass(this.#plan.random() * 1_500);
      await this.#kill();
    }
    const startedAt = performance.now();
    const service = spawnService(this.#plan.home);
    this.#service = service;
    this.#calls = client(await service.listening);
    this.counts.slowestStartMs = Math.max(this.counts.slowestStartMs, performance.now() - startedAt);
    return this.#calls;
  }

  async #kill(): Promise<void> {
    this.#calls = undefined;
    this.counts.kills += 1;
    await this.#service?.end('SIGKILL');
  }

  /** Fills up what runs, and uses it. `done` settles when all of it is done, or cut off. */
  #work(calls: Calls, killed: AbortSignal): { readonly opened: Promise<unknown>; readonly done: Promise<unknown> } {
    const { live, jobs } = this.#plan;
    const known = [...this.#sessions];
    const missing = Math.max(0, live - known.length);
    const unended = this.#jobs.filter(({ id, ended }) => id !== null && ended === null);
    const opened = Promise.all(Array.from({ length: missing }, () => this.#open(calls, killed)));
    const done = Promise.all([
      opened,
      ...unended.map((job) => this.#follow(calls, killed, job)),
      ...Array.from({ length: Math.max(0, jobs - unended.length) }, () => this.#submit(calls, killed)),
      ...known.map(([id, session]) => this.#type(calls, killed, id, session)),
    ]);
    // What fails is met where it is awaited, after the kill.
    done.catch(() => undefined);
    return { opened, done };
  }

  async #open(calls: Calls, killed: AbortSignal): Promise<void> {
    const answer = await this.#asked(killed, () => calls.call('POST', '/api/sessions', {}));
    if (answer === null) return;
    this.#expect(answer, 201);
    const known: KnownSession = { typed: null, typing: null };
    this.#sessions.set(answer.body.id, known);
    const page = await this.#asked(killed, () => calls.run(answer.body.id, `agent.go(${JSON.stringify(FORM)})`));
    if (page === null) return;
    this.#expect(page, 200);
    known.typed = '';
  }

  async #submit(calls: Calls, killed: AbortSignal): Promise<void> {
    const job: KnownJob = { reference: `chaos-${this.#jobs.length + 1}`, id: null, ended: null };
    this.#jobs.push(job);
    await pass(this.#plan.random() * 500);
    const answer = await this.#asked(killed, () =>
      calls.call('POST', '/api/jobs', {
        prompt: job.reference,
        flowFiles: ['examples/buy.js'],
        maxIterations: 0,
        args: { base: this.#plan.shop, reference: job.reference },
      }),
    );
    if (answer === null) return;
    this.#expect(answer, 201);
    job.id = answer.body.id;
    await this.#follow(calls, killed, job);
  }

  /** Reads it until it has ended, so that some are told of their end a moment before the kill. */
  async #follow(calls: Calls, killed: AbortSignal, job: KnownJob): Promise<void> {
    while (job.ended === null && !killed.aborted) {
      await this.#asked(killed, () => this.#readJob(calls, job));
      await pass(LOOK_MS);
    }
  }

  /** A few texts, one after another, at moments of chance. */
  async #type(calls: Calls, killed: AbortSignal, id: string, known: KnownSession): Promise<void> {
    if (known.typed === null) return;
    for (let n = 0; n < 3 && !killed.aborted; n += 1) {
      await pass(this.#plan.random() * 1_000);
      const text = `text ${Math.floor(this.#plan.random() * 1e9)}`;
      known.typing = text;
      const types =
        this.#plan.withPage && n % 2 === 1
          ? `page.getByLabel('Name').fill(${JSON.stringify(text)})`
          : `agent.act('{input}Name', 'input', ${JSON.stringify(text)})`;
      const script = `let kept = 1; ${types}`;
      const answer = await this.#asked(killed, () => calls.run(id, script));
      if (answer === null) return;
      this.#expect(answer, 200);
      known.typed = text;
      this.counts.scripts += 1;
    }
  }

  /** Null where the kill came first: whether what was asked for happened is not known then. */
  async #asked<T>(killed: AbortSignal, ask: () => Promise<T>): Promise<T | null> {
    if (killed.aborted) return null;
    try {
      return await ask();
    } catch (error) {
      if (killed.aborted) return null;
      throw this.#broken(`A living service did not answer: ${String(error)}`);
    }
  }

  async #takenUp(calls: Calls): Promise<void> {
    for (const [id, known] of this.#sessions) {
      const record = (await calls.call('GET', `/api/sessions/${id}`)).body;
      if (record.status !== 'running') throw this.#broken(`A live session is not there: ${JSON.stringify(record)}`);
      if (known.typed === null) continue;
      const value = "agent.value('{input}Name')";
      const other = this.#plan.withPage ? "page.getByLabel('Name').inputValue()" : value;
      const { status, body } = await calls.run(id, `[${value}, typeof kept, ${other}]`);
      const [text, kept, seen] = status === 200 ? body : [];
      // What is typed comes key by key, and may have been cut in the middle.
      const right = text === known.typed || (typeof text === 'string' && known.typing?.startsWith(text));
      if (!right || kept !== 'undefined' || seen !== text) {
        throw this.#broken(`Not the page that ${id} was left with: ${JSON.stringify({ known, status, body })}`);
      }
      known.typed = text;
      this.counts.adopted += 1;
    }
    for (const job of this.#jobs) if (job.id !== null) await this.#readJob(calls, job);
    await this.#dropUnknown(calls);
  }

  /** Sessions whose create was cut off: nobody was told of them, and nobody will use them. */
  async #dropUnknown(calls: Calls): Promise<void> {
    const { body } = await calls.call('GET', '/api/sessions?mode=live&state=running');
    for (const { id } of body) if (!this.#sessions.has(id)) await calls.call('DELETE', `/api/sessions/${id}`);
  }

  async #readJob(calls: Calls, job: KnownJob): Promise<void> {
    const { status, body } = await calls.call('GET', `/api/jobs/${job.id}`);
    if (status !== 200) throw this.#broken(`A job that was accepted is not there: ${job.id} ${JSON.stringify(body)}`);
    const end = body.state === 'failed' ? body.error.code : body.state;
    if (job.ended !== null && job.ended !== end) {
      throw this.#broken(`The end of ${job.id} was ${job.ended} and is now ${end}`);
    }
    if (end === 'queued' || end === 'running') return;
    if (end !== 'completed' && end !== 'INTERRUPTED') {
      throw this.#broken(`A job ended otherwise than it may: ${JSON.stringify(body.error)}`);
    }
    if (job.ended === null) this.counts[end === 'completed' ? 'completed' : 'interrupted'] += 1;
    job.ended = end;
  }

  async #checkOrders({ reference, ended }: KnownJob): Promise<void> {
    const response = await fetch(`${this.#plan.shop}/api/orders?reference=${reference}`);
    const orders: unknown = await response.json();
    const count = Array.isArray(orders) ? orders.length : -1;
    const right = ended === 'completed' ? count === 1 : count === 0 || count === 1;
    if (!right) throw this.#broken(`${count} orders of ${reference}, whose job ended ${ended}`);
  }

  #expect(answer: Answered, status: number): void {
    if (answer.status !== status) throw this.#broken(`Answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  #broken(what: string): Error {
    return new Error(`${what}\nThe service printed:\n${this.#service?.output() ?? ''}`);
  }
}

/** Settles with the work, or when so much time is up; no timer is left. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  const timer = pass(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([work, timer]).finally(() => over.abort());
}
