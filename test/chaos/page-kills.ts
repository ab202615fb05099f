import { setTimeout as pass } from 'node:timers/promises';
import { killBrowser } from '../support/browsers.js';
import { type Answered, client } from '../support/service.js';
import { type ServiceProcess, spawnServiceWithMortalThreads } from '../support/service-process.js';

/** How hard sessions that use `page` are tried. */
export interface PageKillPlan {
  readonly sessions: number;
  /** 0 to 1. */
  readonly random: () => number;
  readonly home: string;
}

export const TARGETS = ['playwright', 'thread', 'browser', 'service'] as const;
export type Target = (typeof TARGETS)[number];

/** What a client knows of a session: the text that its page has for certain, and the text that it may have. */
interface Known {
  typed: string;
  typing: string | null;
}

const FORM = 'data:text/html,<title>form</title><input aria-label=Name><button>Go</button>';
/** The longest time from the first script of a round to the kill, in milliseconds. */
const LIFE_MS = 1_500;
/** Errors that a script may get if something is killed under it. */
const MAY_FAIL: Readonly<Record<Target, ReadonlySet<string>>> = {
  playwright: new Set(['SESSION_RESTARTED']),
  thread: new Set(['SESSION_RESTARTED']),
  browser: new Set(['WORKER_LOST', 'SESSION_ENDED', 'SESSION_RESTARTED']),
  service: new Set(),
};
const READ = `[page.getByLabel('Name').inputValue(), agent.value('{input}Name'), page.title()]`;

type Calls = ReturnType<typeof client>;

/**
 * Live sessions whose scripts use `page` and `agent`, while Playwright's threads, the session threads, a browser or the
 * service are killed at random moments. Afterwards each session has the text that it was answered for, read by both, or
 * its browser was the one that was killed. What does not hold is thrown.
 */
export class PageKills {
  readonly counts = { playwright: 0, thread: 0, browser: 0, service: 0, scripts: 0, cut: 0 };
  readonly #plan: PageKillPlan;
  readonly #sessions = new Map<string, Known>();
  #service: Omit<ServiceProcess, 'url'> | undefined;

  constructor(plan: PageKillPlan) {
    this.#plan = plan;
  }

  /** Kills each of the targets once, in this order. */
  async run(targets: readonly Target[]): Promise<void> {
    let calls = await this.#start();
    for (const target of targets) {
      while (this.#sessions.size < this.#plan.sessions) await this.#open(calls);
      calls = await this.#round(calls, target);
    }
    for (const id of this.#sessions.keys()) await calls.call('DELETE', `/api/sessions/${id}`);
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

  async #open(calls: Calls): Promise<void> {
    const { id } = await calls.live();
    const answer = await calls.run(id, `page.goto(${JSON.stringify(FORM)}); page.title()`);
    if (answer.body !== 'form') throw this.#broken(`No page: ${JSON.stringify(answer.body)}`);
    this.#sessions.set(id, { typed: '', typing: null });
  }

  async #round(calls: Calls, target: Target): Promise<Calls> {
    const over = new AbortController();
    const work = [...this.#sessions].map(([id, known]) => this.#type(calls, id, known, target, over.signal));
    // Errors are thrown where the work is awaited, after the kill.
    for (const one of work) one.catch(() => undefined);
    await pass(this.#plan.random() * LIFE_MS);
    const [lost] = target === 'browser' ? this.#sessions.keys() : [];
    over.abort();
    const next = await this.#kill(calls, target, lost);
    await Promise.all(work);
    this.counts[target] += 1;
    for (const [id, known] of this.#sessions) if (id !== lost) await this.#check(next, id, known);
    if (lost !== undefined) await this.#checkLost(next, lost);
    return next;
  }

  async #kill(calls: Calls, target: Target, lost: string | undefined): Promise<Calls> {
    switch (target) {
      case 'playwright':
        this.#service?.child.kill('SIGURG');
        return calls;
      case 'thread':
        this.#service?.child.kill('SIGUSR2');
        return calls;
      case 'browser':
        if (lost !== undefined) killBrowser(lost);
        return calls;
      case 'service':
        await this.#service?.end('SIGKILL');
        return this.#start();
    }
  }

  /** Types one text after another, by each library in turn, until one script after the kill has been answered. */
  async #type(calls: Calls, id: string, known: Known, target: Target, over: AbortSignal): Promise<void> {
    for (let n = 0, last = false; !last; n += 1) {
      last = over.aborted;
      const text = `text ${Math.floor(this.#plan.random() * 1e9)}`;
      known.typing = text;
      const script =
        n % 2 === 0
          ? `page.getByLabel('Name').fill('${text}'); page.getByRole('button').click()`
          : `agent.act('{input}Name', 'input', '${text}'); page.title()`;
      const answer = await calls.run(id, script).catch((error: unknown) => error);
      if (answer instanceof Error) {
        if (target === 'service' && over.aborted) return;
        throw this.#broken(`A living service did not answer: ${String(answer)}`);
      }
      const { status, body } = answer as Answered; // What `run` answers where it does not throw.
      if (status === 200) {
        known.typed = text;
        this.counts.scripts += 1;
        continue;
      }
      if (!MAY_FAIL[target].has(body.code)) throw this.#broken(`A script failed at ${target}: ${JSON.stringify(body)}`);
      this.counts.cut += 1;
      return;
    }
  }

  async #check(calls: Calls, id: string, known: Known): Promise<void> {
    let answer = await calls.run(id, READ);
    // The thread may have died while this script was on its way.
    if (answer.body?.code === 'SESSION_RESTARTED') answer = await calls.run(id, READ);
    const [text, other, title] = answer.status === 200 ? answer.body : [];
    // What `agent` types comes key by key, and may have been cut in the middle.
    const right = text === known.typed || (typeof text === 'string' && known.typing?.startsWith(text));
    if (!right || other !== text || title !== 'form') {
      throw this.#broken(`Not the page that ${id} was left with: ${JSON.stringify({ known, body: answer.body })}`);
    }
    known.typed = text;
  }

  async #checkLost(calls: Calls, id: string): Promise<void> {
    this.#sessions.delete(id);
    await calls.call('GET', `/api/sessions/${id}/download`);
    const { body } = await calls.call('GET', `/api/sessions/${id}`);
    if (body.error?.code !== 'WORKER_LOST') throw this.#broken(`Its browser was killed: ${JSON.stringify(body)}`);
  }

  #broken(what: string): Error {
    return new Error(`${what}\nThe service printed:\n${this.#service?.output() ?? ''}`);
  }
}
