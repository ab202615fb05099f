import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import type { EventType } from '../../protocol/events.js';
import type { Log } from '../../telemetry/log.js';
import type { EventHub } from '../events/index.js';

/** One check covers all ends within this time, in milliseconds: a large batch does not cost a query for each job. */
const CHECK_MS = 250;
/** Delays after journal errors; the first one, doubled up to the second. */
const FAULT_WAIT_MS = 1_000;
const MAX_FAULT_WAIT_MS = 60_000;

const ENDS: ReadonlySet<EventType> = new Set(['SessionEnded']);

export interface BatchEndsParts {
  readonly journal: Pick<Journal, 'keyValues' | 'openBatches'>;
  readonly hub: Pick<EventHub, 'stream' | 'lastSeq'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Several nodes share the journal: each waits for the batches that it accepted, and one sweeps for all. */
  readonly isShared: boolean;
  /** Called at least once for each batch whose jobs have all ended; must do nothing if it has succeeded before. */
  notify(batch: string): Promise<void>;
}

/**
 * Notices that batches with a webhook have ended. Which batches it waits for follows from the journal, so an end during
 * a restart is noticed by the next start.
 */
export class BatchEnds {
  readonly #parts: BatchEndsParts;
  readonly #stopped = new AbortController();
  /** Batches with a webhook for which `notify` has not succeeded. */
  readonly #waiting = new Set<string>();
  /** Settles the pause of {@link #check}. */
  #wake: () => void = () => undefined;
  /** Batches with a webhook for which {@link sweep} has called `notify`. */
  readonly #swept = new Set<string>();
  #due = true;
  #loaded = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(parts: BatchEndsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#work = Promise.all([this.#check(), this.#follow()]);
  }

  /** A batch with a webhook is on disk. */
  watch(batch: string): void {
    this.#waiting.add(batch);
    this.#checkSoon();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#work;
  }

  #checkSoon(): void {
    this.#due = true;
    this.#wake();
  }

  async #follow(): Promise<void> {
    const { hub, log } = this.#parts;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const events = hub.stream({ after: hub.lastSeq(), types: ENDS, signal }, () => true);
        // What ended before the subscription is found by this check.
        this.#checkSoon();
        for await (const _ of events) if (this.#waiting.size > 0) this.#checkSoon();
      } catch (error) {
        if (signal.aborted) return;
        log(`the ends of batches are followed again after an error: ${sentenceOf(error)}`);
        await this.#pause(FAULT_WAIT_MS);
      }
    }
  }

  async #check(): Promise<void> {
    const { signal } = this.#stopped;
    let faults = 0;
    while (!signal.aborted) {
      if (!this.#due) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.#due = false;
      try {
        await this.#notifyEnded();
        faults = 0;
        await this.#pause(CHECK_MS);
      } catch (error) {
        this.#due = true;
        const waitMs = Math.min(MAX_FAULT_WAIT_MS, FAULT_WAIT_MS * 2 ** faults);
        faults += 1;
        this.#parts.log(`webhooks of batches wait ${waitMs / 1_000} s after an error: ${sentenceOf(error)}`);
        await this.#pause(waitMs);
      }
    }
  }

  async #notifyEnded(): Promise<void> {
    const { journal, notify } = this.#parts;
    if (!this.#loaded && !this.#parts.isShared) {
      for (const { id, data } of await journal.keyValues('batch')) if (hasWebhook(data)) this.#waiting.add(id);
      this.#loaded = true;
    }
    if (this.#waiting.size === 0) return;
    const candidates = [...this.#waiting];
    const open = new Set((await journal.openBatches()).map(({ id }) => id));
    for (const id of candidates) {
      if (open.has(id) || this.#stopped.signal.aborted) continue;
      await notify(id);
      this.#waiting.delete(id);
    }
  }

  /** Finds batches that have ended and whose node has not noticed, since it is gone. Rejects with the journal's error. */
  async sweep(): Promise<void> {
    const { journal, notify } = this.#parts;
    const found = (await journal.keyValues('batch')).filter(({ id, data }) => hasWebhook(data) && !this.#swept.has(id));
    const open = found.length === 0 ? [] : await journal.openBatches();
    const isOpen = new Set(open.map(({ id }) => id));
    for (const { id } of found) {
      if (isOpen.has(id) || this.#waiting.has(id) || this.#stopped.signal.aborted) continue;
      await notify(id);
      this.#swept.add(id);
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    await pause(ms, { signal, clock: this.#parts.clock }).catch(() => undefined);
  }
}

function hasWebhook(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.hasOwn(data, 'webhook');
}
