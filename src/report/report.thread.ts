import type { MessagePort } from 'node:worker_threads';
import type { SessionRecord } from '../protocol/session.js';
import { taskFunction } from '../threads/task-function.js';
import { produceArtifacts } from './artifact-writer.js';
import { receivePages } from './event-pages.js';
import { type BatchJUnitTask, batchJUnit } from './junit.js';

/** What makes the files of one session. The events come through `port`. */
export interface ReportTask {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly port: MessagePort;
}

// Entry of the threads of `ReportPool`.
export const produce = taskFunction(async ({ dir, record, port }: ReportTask): Promise<string> => {
  await produceArtifacts(dir, record, receivePages(port));
  return '';
});
export const collect = taskFunction((task: BatchJUnitTask): Promise<string> => batchJUnit(task));
