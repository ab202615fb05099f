import { pause, withSignal } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import type { HandoffOutcome, HandoffRequest } from '../protocol/person/handoff.js';
import type { SessionRecord } from '../protocol/session.js';
import { answerAs } from './answers.js';
import type { CallOptions, Connection, EventOptions } from './connection.js';
import { lookAgainMs } from './reopening.js';
import { SessionFiles } from './session-files.js';

/** What setTimeout takes, 24 days. */
const LONGEST_MS = 2_147_483_647;

/** What live sessions and jobs have in common. */
export class SessionHandle {
  /** The id of the session or job, as on the dashboard and in `GET /api/sessions/{id}`. */
  readonly id: string;
  /** The files of its browser: downloads, and uploads for it. */
  readonly files: SessionFiles;
  protected readonly connection: Connection;
  protected readonly path: string;

  constructor(connection: Connection, id: string) {
    this.connection = connection;
    this.id = id;
    this.path = `/api/sessions/${encodeURIComponent(id)}`;
    this.files = new SessionFiles(connection, this.path);
  }

  /** The record as it is now. */
  async record(options: CallOptions = {}): Promise<SessionRecord> {
    const answer = await this.connection.json('GET', this.path, { ...options, retry: 'always' });
    return answerAs<SessionRecord>(answer, 'id', 'status', 'endedAt');
  }

  /**
   * The events from the beginning or after a number, each once and in order, until the session ends. Broken connections are
   * opened again.
   */
  async *events(options: EventOptions = {}): AsyncGenerator<JournalEvent, void> {
    for await (const event of this.connection.events(`${this.path}/events`, options)) {
      yield answerAs<JournalEvent>(event, 'seq', 'type');
    }
  }

  /**
   * Waits for the end, and returns the record; a failure is in its `status` and `error`.
   * @param options.timeoutMs by default it waits as long as the session lasts
   * @throws WAIT_TIMEOUT after `timeoutMs`; the session continues
   */
  wait({ signal, timeoutMs = LONGEST_MS }: CallOptions = {}): Promise<SessionRecord> {
    const late = () => new TroupeError('WAIT_TIMEOUT', `${this.id} has not ended within ${timeoutMs} ms`);
    const signals = signal === undefined ? [] : [signal];
    return withSignal({ signals, ms: timeoutMs, late }, async (bounded) => {
      for (let looks = 0; ; looks += 1) {
        await pause(lookAgainMs(looks), { signal: bounded });
        const record = await this.record({ signal: bounded });
        if (record.endedAt !== null) return record;
        for await (const { type } of this.events({ signal: bounded })) if (type === 'SessionEnded') break;
      }
    });
  }

  /**
   * Answers what a script asks a person to do (`agent.handoff`): the record's `handoff`.
   * @throws NOT_FOUND if no script waits, or another answer came first
   */
  async answerHandoff(
    answer: HandoffOutcome,
    { note, handoff, ...options }: CallOptions & Omit<HandoffRequest, 'answer'> = {},
  ): Promise<void> {
    const body = { answer, note, handoff };
    await this.connection.json('POST', `${this.path}/handoff`, { ...options, body, retry: 'refused' });
  }

  /** The zip of the artifacts, as a stream; while the session runs, what there is so far. */
  download(options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.connection.stream(`${this.path}/download`, options);
  }

  /** Stops the session; the record and the artifacts stay. With `purge` they are removed. May be repeated. */
  async stop({
    purge = false,
    ...options
  }: CallOptions & { readonly purge?: boolean | undefined } = {}): Promise<void> {
    await this.connection.json('DELETE', `${this.path}${purge ? '?purge=true' : ''}`, { ...options, retry: 'always' });
  }
}
