import { basename } from 'node:path';
import type { Browser, BrowserType, FullConfig, TestInfo, WorkerInfo } from '@playwright/test';
import { type LiveRequest, type Session, Troupe, TroupeError } from '../client/index.js';
import { readCiBuild } from '../config/ci.js';
import type { SuiteRequest } from '../protocol/batches/suite.js';
import { type UsedService, usedService } from './used-service.js';

/** The option `troupe` in a project's `use`. */
export interface TroupeOptions {
  /** The address of the service; else TROUPE_URL, else that of the service that runs for this home or this user. */
  readonly url?: string;
  /** The access token; else TROUPE_TOKEN. */
  readonly token?: string;
  /** The name of the run; else that of the folder of the command. */
  readonly run?: string;
  /** Labels of the run and of each session, whose own are `run`, `project`, `file`, `worker` and `retry`. */
  readonly labels?: { readonly [label: string]: string };
  /** More of what `POST /api/sessions` takes, such as `egress`, `forward` or `hardTimeout`. */
  readonly session?: Omit<LiveRequest, 'mode' | 'name' | 'labels'>;
}

/** What a session is created for, and how it is named. */
export interface Purpose {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
}

const MAX_NAME = 200;
const MAX_LABEL = 500;

/** A test's session is named after it. @param run the run that it belongs to; null for none */
export function purposeOf(info: TestInfo, run: string | null): Purpose {
  const [file = '', ...titles] = info.titlePath;
  const labels = { file, worker: String(info.parallelIndex), retry: String(info.retry) };
  return { name: titles.join(' › '), labels: { ...labels, ...projectLabel(info), ...(run === null ? {} : { run }) } };
}

/** The session of the `browser` of a worker. */
export function workerPurpose(info: WorkerInfo, run: string | null): Purpose {
  return {
    name: `browser of worker ${info.parallelIndex}`,
    labels: { worker: String(info.parallelIndex), ...projectLabel(info), ...(run === null ? {} : { run }) },
  };
}

function projectLabel({ project }: WorkerInfo | TestInfo): { readonly [label: string]: string } {
  return project.name === '' ? {} : { project: project.name };
}

/** The run of a suite: named after its folder, with the labels that runs of flows have, too. */
export function runRequest(run: string, options: TroupeOptions, { shard }: Pick<FullConfig, 'shard'>): SuiteRequest {
  const build = readCiBuild(process.env);
  const labels = {
    ...(build?.commit == null ? {} : { commit: build.commit }),
    ...(build?.branch == null ? {} : { branch: build.branch }),
    ...(shard === null ? {} : { shard: `${shard.current}/${shard.total}` }),
    ...options.labels,
  };
  const name = (options.run ?? basename(process.cwd())).slice(0, MAX_NAME);
  return { run, ...(name === '' ? {} : { name }), labels: cut(labels) };
}

/** What the run says about a test that runs: its session is known once it has one. */
export interface Entry {
  readonly startedAtMs: number;
  sessionId: string | null;
}

/** The service that `use.troupe` and the environment name. */
export class Farm {
  /** Of the test that runs in this worker; null between tests. */
  entry: Entry | null = null;
  readonly #options: TroupeOptions;
  readonly #service: UsedService;
  readonly #troupe: Troupe;

  constructor(options: TroupeOptions, service: UsedService = usedService(options)) {
    this.#options = options;
    this.#service = service;
    this.#troupe = new Troupe(service);
  }

  /** @throws TroupeError that says what to do: no service, no token, or none of its browsers became free */
  async create({ name, labels }: Purpose, request: LiveRequest): Promise<Session> {
    // What the run has of its sessions is found by it.
    const { run } = labels;
    try {
      return await this.#troupe.sessions.create({
        ...request,
        ...this.#options.session,
        name: name.slice(0, MAX_NAME) || 'test',
        labels: cut({ ...labels, ...this.#options.labels, ...(run === undefined ? {} : { run }) }),
      });
    } catch (error) {
      const advice = error instanceof TroupeError ? ADVICE[error.code] : undefined;
      if (!(error instanceof TroupeError) || advice === undefined) throw error;
      throw new TroupeError(error.code, `${error.message}. ${advice}`, error.details, { cause: error });
    }
  }

  /** Connects the worker's Playwright to a session. Closing the browser only disconnects. */
  async connect(chromium: BrowserType, session: Session): Promise<Browser> {
    const { token } = this.#service;
    const headers: { [name: string]: string } = token ? { authorization: `Bearer ${token}` } : {};
    return chromium.connectOverCDP(`${await this.#service.address()}/sessions/${session.id}/cdp`, { headers });
  }

  /** Where a person sees the session: live, and later its artifacts. */
  async viewOf(session: Session): Promise<string> {
    return new URL((await session.record()).links.view, `${await this.#service.address()}/`).href;
  }

  /** How a session has ended that its test did not end; null while it runs. */
  async endOf(session: Session): Promise<string | null> {
    const { endedAt, endReason, error } = await session.record();
    if (endedAt === null) return null;
    return `The session ${session.id} has ended before its test: ${error?.error ?? REASONS[endReason ?? ''] ?? endReason}`;
  }
}

const ADVICE: { readonly [code: string]: string } = {
  UNAVAILABLE: 'Start the service with `troupe dashboard`, and give its address in TROUPE_URL or `use.troupe.url`',
  UNAUTHORIZED: 'Give an access token in TROUPE_TOKEN or `use.troupe.token`',
  CAPACITY: 'Use fewer workers, or raise `maxSessions` of the service',
};

const REASONS: { readonly [reason: string]: string } = {
  idle: 'it was not used for its idleTimeout',
  hard: 'it reached its hardTimeout',
  deleted: 'somebody stopped it',
  shutdown: 'the service was stopped',
};

function cut(labels: { readonly [label: string]: string }): { [label: string]: string } {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.slice(0, MAX_LABEL)]));
}
