import type { MessagePort } from 'node:worker_threads';
import type { SessionRecord } from '../protocol/session.js';
import { produceArtifacts } from './artifact-writer.js';
import { type BatchJUnitTask, collectJUnit } from './batch-junit.js';
import { receivePages } from './event-pages.js';

/** What a thread of the report pool is given. The events come through `port`. */
export interface ReportTask {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly port: MessagePort;
}

/** Called by the pool, on one of its threads. */
export async function produce({ dir, record, port }: ReportTask): Promise<void> {
  await produceArtifacts(dir, record, receivePages(port));
}

/** Called by the pool too, by its name. */
export async function collect(task: BatchJUnitTask): Promise<string> {
  return collectJUnit(task);
}
