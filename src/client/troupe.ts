import type { z } from 'zod';
import type { Health, ModelInfo } from '../protocol/answers.js';
import type { AcceptedBatch, BatchRequest } from '../protocol/batches/batch.js';
import type { JournalEvent } from '../protocol/events.js';
import type { JobRequest, ListQuery, LiveRequest, SessionRecord } from '../protocol/session.js';
import { answerAs, listAs } from './answers.js';
import { Batch } from './batch.js';
import { type CallOptions, Connection, type ConnectionOptions, type EventOptions } from './connection.js';
import { Session } from './session.js';
import { SessionHandle } from './session-handle.js';

/** Options of a call that creates something. */
export interface SubmitOptions extends CallOptions {
  /**
   * A repeated call with the same key returns what the first one made. By default each call has a key of its own, so that
   * it can be tried again after a broken connection.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A list of sessions. */
export type SessionQuery = z.input<typeof ListQuery>;

/**
 * A Troupe service. Errors are `TroupeError` with the service's `code`.
 *
 *     const troupe = new Troupe({ url: 'http://127.0.0.1:4444', token: process.env.TROUPE_TOKEN });
 *     const session = await troupe.sessions.create();
 *     await session.run('agent.go("https://example.com"); agent.look()');
 *     await session.stop();
 */
export class Troupe {
  /** Sessions: browsers that run scripts. Its lists have jobs, too. */
  readonly sessions: Sessions;
  /** Jobs: flows, and tasks for a model. */
  readonly jobs: Jobs;
  /** Batches: many jobs by one call. */
  readonly batches: Batches;
  readonly #connection: Connection;

  constructor(options: ConnectionOptions = {}) {
    this.#connection = new Connection(options);
    this.sessions = new Sessions(this.#connection);
    this.jobs = new Jobs(this.#connection);
    this.batches = new Batches(this.#connection);
  }

  /** Whether the service accepts work, and how much. @throws UNAVAILABLE if it cannot write, or none answers */
  async health(options: CallOptions = {}): Promise<Health> {
    return answerAs<Health>(await this.#get('/api/health', options), 'status', 'version');
  }

  /** The models that jobs may use. */
  async models(options: CallOptions = {}): Promise<readonly ModelInfo[]> {
    return listAs<ModelInfo>(await this.#get('/api/models', options), 'id');
  }

  /** The events of all sessions, from now or after a number, without an end. */
  async *events(options: EventOptions = {}): AsyncGenerator<JournalEvent, void> {
    for await (const event of this.#connection.events('/api/events', options)) {
      yield answerAs<JournalEvent>(event, 'seq', 'type');
    }
  }

  #get(path: string, options: CallOptions): Promise<unknown> {
    return this.#connection.json('GET', path, { ...options, retry: 'always' });
  }
}

class Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Starts a browser. @throws CAPACITY if none becomes free */
  async create(request: Omit<LiveRequest, 'mode'> = {}, options: SubmitOptions = {}): Promise<Session> {
    const { id } = answerAs<SessionRecord>(await submit(this.#connection, '/api/sessions', request, options), 'id');
    return new Session(this.#connection, id);
  }

  /** A session by its id. Asks nothing: a session that does not exist is NOT_FOUND when it is used. */
  get(id: string): Session {
    return new Session(this.#connection, id);
  }

  /** A page of sessions and jobs, the newest first; 1,000 at most. {@link Sessions.all} has all pages. */
  async list(query: SessionQuery = {}, options: CallOptions = {}): Promise<readonly SessionRecord[]> {
    return (await this.#page(listPath(query), options)).records;
  }

  /** Sessions and jobs, the newest first, page by page as they are needed. `limit` is the length of a page. */
  async *all(query: SessionQuery = {}, options: CallOptions = {}): AsyncGenerator<SessionRecord, void> {
    for (let path: string | null = listPath(query); path !== null; ) {
      const { records, next }: RecordPage = await this.#page(path, options);
      yield* records;
      path = next;
    }
  }

  async #page(path: string, options: CallOptions): Promise<RecordPage> {
    return this.#connection.send('GET', path, { ...options, retry: 'always' }, async (answer) => ({
      records: listAs<SessionRecord>(await answer.json(), 'id', 'status'),
      next: /<([^>]+)>; *rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null,
    }));
  }
}

interface RecordPage {
  readonly records: readonly SessionRecord[];
  /** The path of the next page; null for the last. */
  readonly next: string | null;
}

function listPath(query: SessionQuery): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) words.append(name, String(one));
  }
  return words.size === 0 ? '/api/sessions' : `/api/sessions?${words}`;
}

class Jobs {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Submits a job: flows, and with a model a prompt. It is on disk when the call returns. */
  async submit(request: JobRequest, options: SubmitOptions = {}): Promise<SessionHandle> {
    const { id } = answerAs<SessionRecord>(await submit(this.#connection, '/api/jobs', request, options), 'id');
    return new SessionHandle(this.#connection, id);
  }

  /** A job by its id. Asks nothing. */
  get(id: string): SessionHandle {
    return new SessionHandle(this.#connection, id);
  }
}

class Batches {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Submits up to 10,000 jobs, all or none. */
  async submit(request: BatchRequest, options: SubmitOptions = {}): Promise<Batch> {
    const answer = await submit(this.#connection, '/api/batches', request, options);
    const { id, jobs } = answerAs<AcceptedBatch>(answer, 'id', 'jobs');
    return new Batch(this.#connection, id, jobs);
  }

  /** A batch by its id, without the ids of its jobs: `sessions.all({batch: id})` has them. Asks nothing. */
  get(id: string): Batch {
    return new Batch(this.#connection, id, []);
  }
}

function submit(connection: Connection, path: string, body: object, options: SubmitOptions): Promise<unknown> {
  const { idempotencyKey = randomKey(), ...call } = options;
  const headers = { 'idempotency-key': idempotencyKey };
  return connection.json('POST', path, { ...call, body, headers, retry: 'always' });
}

/** Not randomUUID(), which pages have only over HTTPS. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
