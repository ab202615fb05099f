import { z } from 'zod';
import type { KeyValue } from '../../journal/journal.js';
import { BatchId } from '../../protocol/batches/batch.js';

/** A batch as the journal stores it. */
export const StoredBatch = z.object({
  id: BatchId,
  createdAt: z.string(),
  name: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  parallel: z.int().nullable(),
  total: z.int(),
  /** Events of its jobs have higher numbers. */
  after: z.int(),
  cancelled: z.boolean(),
  /** The webhook and its format, encrypted: it may contain keys. */
  webhook: z.unknown().optional(),
  /** Machines claim its jobs; absent for other batches. */
  join: z
    .object({
      build: z.string(),
      hash: z.string(),
      /** The access token that it was made with; empty for none. */
      owner: z.string(),
    })
    .optional(),
  /** It is a run of a Playwright suite, whose processes report its tests; absent for other batches. */
  suite: z
    .object({
      run: z.string(),
      /** The access token that it was made with; empty for none. */
      owner: z.string(),
    })
    .optional(),
});
export type StoredBatch = z.infer<typeof StoredBatch>;

export function batchRow(batch: StoredBatch): KeyValue {
  return { kind: 'batch', id: batch.id, data: batch };
}
