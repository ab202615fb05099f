import { setTimeout as pass } from 'node:timers/promises';
import { killBrowser } from '../support/browsers.js';
import { containerOf, docker } from '../support/docker.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { client } from '../support/service.js';
import { type ServiceProcess, spawnServiceWithMortalThreads } from '../support/service-process.js';

/** How hard jobs are tried. */
export interface JobKillPlan {
  readonly jobs: number;
  readonly kills: number;
  /** 0 to 1. */
  readonly random: () => number;
  readonly driver: string;
  readonly home: string;
  /** Where jobs order: a page with a button, and after the order without it. */
  readonly shop: string;
  /** Orders by job, as the shop counted them. */
  readonly orders: ReadonlyMap<string, number>;
}

/** A kill comes so many events after the last at most, and so many milliseconds at most. */
const EVENTS_BETWEEN = 40;
const LONGEST_LIFE_MS = 8_000;
const ENDS_MS = 400_000;
/** Ends that a job may have beside `completed` when things are killed under it. */
const MAY_FAIL: ReadonlySet<string> = new Set(['INTERRUPTED', 'WORKER_LOST']);

type Target = 'service' | 'thread' | 'browser';
type Calls = ReturnType<typeof client>;

/**
 * Jobs of flows and of models, some with `retries`, while the service, its threads and the jobs' browsers are killed at
 * events of chance. Whatever is killed, each job ends once, has ordered once at most, and once for certain where it says
 * that it completed. What does not hold is thrown.
 */
export class JobKills {
  readonly counts = { service: 0, thread: 0, browser: 0, completed: 0, INTERRUPTED: 0, WORKER_LOST: 0, retried: 0 };
  readonly #plan: JobKillPlan;
  readonly #ids: string[] = [];
  #service: Omit<ServiceProcess, 'url'> | undefined;

  constructor(plan: JobKillPlan) {
    this.#plan = plan;
  }

  async run(): Promise<void> {
    let calls = await this.#start();
    for (let job = 0; job < this.#plan.jobs; job += 1) await this.#submit(calls, job);
    for (let kill = 0; kill < this.#plan.kills; kill += 1) {
      if (await this.#allEnded(calls)) break;
      await this.#someEvents(calls);
      calls = await this.#kill(calls);
    }
    const last = calls;
    await eventually('every job ends', () => this.#allEnded(last), ENDS_MS);
    for (const [job, id] of this.#ids.entries()) await this.#check(calls, `job-${job}`, id);
    const ended = await this.#service?.end('SIGTERM');
    if (ended?.code !== 0) throw this.#broken(`SIGTERM ended the service with ${JSON.stringify(ended)}`);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.#service?.end('SIGKILL');
  }

  async #start(): Promise<Calls> {
    const service = spawnServiceWithMortalThreads(this.#plan.home);
    this.#service = service;
    return client(await service.listening);
  }

  async #submit(calls: Calls, job: number): Promise<void> {
    const task =
      job % 2 === 0
        ? { flowFiles: ['order.js'], maxIterations: 0, args: { shop: this.#plan.shop, job: `job-${job}` } }
        : {};
    const body = { prompt: `Order for job-${job}.`, ...task, ...(job % 3 === 0 ? { retries: 10 } : {}) };
    const { status, body: record } = await calls.call('POST', '/api/jobs', body);
    if (status !== 201) throw this.#broken(`A job was not accepted: ${JSON.stringify(record)}`);
    this.#ids.push(record.id);
  }

  /** Waits for a number of events of chance, or for a time where nothing happens. */
  async #someEvents({ url }: Calls): Promise<void> {
    const count = Math.floor(this.#plan.random() * EVENTS_BETWEEN);
    const reader = await EventReader.open(url, '/api/events');
    const over = new AbortController();
    const late = pass(LONGEST_LIFE_MS, undefined, { signal: over.signal });
    await Promise.race([reader.until(({ events }) => events.length >= count), late]).catch(() => undefined);
    over.abort();
    await late.catch(() => undefined);
    reader.cut();
  }

  async #kill(calls: Calls): Promise<Calls> {
    const chance = this.#plan.random();
    const target: Target = chance < 0.4 ? 'service' : chance < 0.7 ? 'thread' : 'browser';
    this.counts[target] += 1;
    switch (target) {
      case 'service':
        await this.#service?.end('SIGKILL');
        return this.#start();
      case 'thread':
        this.#service?.child.kill('SIGUSR2');
        return calls;
      case 'browser':
        await this.#killBrowser(calls);
        return calls;
    }
  }

  async #killBrowser(calls: Calls): Promise<void> {
    const { body: running } = await calls.call('GET', '/api/sessions?state=running');
    const id = running[Math.floor(this.#plan.random() * running.length)]?.id;
    if (id === undefined) return;
    if (this.#plan.driver === 'process') return killBrowser(id);
    const container = await containerOf(id);
    // It may have ended by itself meanwhile.
    if (container !== '') await docker('kill', container).catch(() => undefined);
  }

  async #allEnded(calls: Calls): Promise<boolean> {
    for (const id of this.#ids) {
      if ((await calls.call('GET', `/api/jobs/${id}`)).body.endedAt === null) return false;
    }
    return true;
  }

  async #check(calls: Calls, job: string, id: string): Promise<void> {
    const { body: record } = await calls.call('GET', `/api/jobs/${id}`);
    const end = record.state === 'failed' ? record.error.code : record.state;
    if (end !== 'completed' && !MAY_FAIL.has(end)) {
      throw this.#broken(`${job} ended otherwise than it may: ${JSON.stringify(record.error)}`);
    }
    this.counts[end as 'completed' | 'INTERRUPTED' | 'WORKER_LOST'] += 1;
    if (record.attempt > 1) this.counts.retried += 1;
    const orders = this.#plan.orders.get(job) ?? 0;
    if (orders > 1 || (end === 'completed' && orders !== 1)) {
      throw this.#broken(`${orders} orders of ${job}, which ended ${end}`);
    }
    const { body: events } = await calls.call('GET', `/api/sessions/${id}/events`);
    const ends = events.match(/event: SessionEnded/g)?.length;
    if (ends !== 1) throw this.#broken(`${job} ended ${ends} times`);
  }

  #broken(what: string): Error {
    return new Error(`${what}\nThe service printed:\n${this.#service?.output() ?? ''}`);
  }
}
