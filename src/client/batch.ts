import { pause, withSignal } from '../base/deadline.js';
import type { BatchRecord } from '../protocol/batches/batch.js';
import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import { answerAs } from './answers.js';
import type { CallOptions, Connection, EventOptions } from './connection.js';
import { lookAgainMs } from './reopening.js';

/** What setTimeout takes, 24 days. */
const LONGEST_MS = 2_147_483_647;

/** A batch of jobs. */
export class Batch {
  /** The id of the batch, as in `GET /api/batches/{id}`. */
  readonly id: string;
  /** The ids of its jobs, in the order of the request. */
  readonly jobs: readonly string[];
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, id: string, jobs: readonly string[]) {
    this.#connection = connection;
    this.id = id;
    this.jobs = jobs;
    this.#path = `/api/batches/${encodeURIComponent(id)}`;
  }

  /** The record as it is now, with the number of jobs in each state. */
  async record(options: CallOptions = {}): Promise<BatchRecord> {
    const answer = await this.#connection.json('GET', this.#path, { ...options, retry: 'always' });
    return answerAs<BatchRecord>(answer, 'id', 'counts', 'endedAt');
  }

  /** The starts and ends of its jobs, until all have ended. */
  async *events(options: EventOptions = {}): AsyncGenerator<JournalEvent, void> {
    for await (const event of this.#connection.events(`${this.#path}/events`, options)) {
      yield answerAs<JournalEvent>(event, 'seq', 'type');
    }
  }

  /** Waits until all jobs have ended. @throws WAIT_TIMEOUT after `timeoutMs`; the batch continues */
  wait({ signal, timeoutMs = LONGEST_MS }: CallOptions = {}): Promise<BatchRecord> {
    const late = () => new TroupeError('WAIT_TIMEOUT', `The batch ${this.id} has not ended within ${timeoutMs} ms`);
    const signals = signal === undefined ? [] : [signal];
    return withSignal({ signals, ms: timeoutMs, late }, async (bounded) => {
      for (let looks = 0; ; looks += 1) {
        await pause(lookAgainMs(looks), { signal: bounded });
        const record = await this.record({ signal: bounded });
        if (record.endedAt !== null) return record;
        // The stream ends with the batch.
        for await (const _ of this.events({ signal: bounded }));
      }
    });
  }

  /** The zip with a folder of artifacts for each job, as a stream. */
  download(options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#connection.stream(`${this.#path}/download`, options);
  }

  /** The JUnit report, as XML. */
  junit(options: CallOptions = {}): Promise<string> {
    return this.#connection.send('GET', `${this.#path}/junit`, { ...options, retry: 'always' }, (answer) =>
      answer.text(),
    );
  }

  /** Cancels the jobs that have not ended; the others stay. With `purge` all are removed. */
  async stop({
    purge = false,
    ...options
  }: CallOptions & { readonly purge?: boolean | undefined } = {}): Promise<void> {
    await this.#connection.json('DELETE', `${this.#path}${purge ? '?purge=true' : ''}`, {
      ...options,
      retry: 'always',
    });
  }
}
