import type { MessagePort } from 'node:worker_threads';
import { type ErrorBody, encodeError } from '../protocol/errors.js';
import type { SessionRecord } from '../protocol/session.js';
import { produceArtifacts } from './artifact-writer.js';
import { type BatchJUnitTask, collectJUnit } from './batch-junit.js';
import { receivePages } from './event-pages.js';

/** The task of a pool thread. The events come through `port`. */
export interface ReportTask {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly port: MessagePort;
}

/** A thread's answer. Errors are returned because an error thrown across threads loses its code. */
export type ReportAnswer = { readonly text: string } | { readonly error: ErrorBody };

/** Called by the pool on one of its threads. Never rejects. */
export async function produce({ dir, record, port }: ReportTask): Promise<ReportAnswer> {
  return answered(async () => {
    await produceArtifacts(dir, record, receivePages(port));
    return '';
  });
}

/** Called by the pool, too, by its name. Never rejects. */
export async function collect(task: BatchJUnitTask): Promise<ReportAnswer> {
  return answered(() => collectJUnit(task));
}

async function answered(work: () => Promise<string>): Promise<ReportAnswer> {
  try {
    return { text: await work() };
  } catch (error) {
    return { error: encodeError(error) };
  }
}
