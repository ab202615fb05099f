import { z } from 'zod';
import { JobRequest, SessionStatus } from './session.js';

/** The most jobs of one batch. */
export const MAX_BATCH_JOBS = 10_000;
/** What a batch may bring of its own flows. */
export const MAX_BATCH_FLOWS = 2_000;

/** A batch's id, of the form of a session's. */
export const BatchId = z
  .string()
  .regex(/^[a-z0-9]{12}$/)
  .brand<'BatchId'>();
export type BatchId = z.infer<typeof BatchId>;

/** A path below the flows folder of what flows are made of, or read. */
const BroughtPath = z
  .string()
  .max(500)
  .regex(/^(?!\.)[^/\\\0]{1,200}(\/(?!\.)[^/\\\0]{1,200})*\.(js|md|json|csv|txt)$/, {
    error: 'a path below flows/, with forward slashes, to a .js, .md, .json, .csv or .txt file',
  });

/** `POST /api/batches`. */
export const BatchRequest = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  /** Of every job too, which may add its own. */
  labels: z.record(z.string().min(1).max(100), z.string().max(500)).optional(),
  /** So many of its jobs run at once, at most. */
  parallel: z.int().min(1).max(MAX_BATCH_JOBS).optional(),
  /** The batch's own flows, by path: its jobs see these in place of the service's flows folder. */
  flows: z
    .record(BroughtPath, z.string().max(1024 * 1024))
    .refine((flows) => Object.keys(flows).length <= MAX_BATCH_FLOWS, `at most ${MAX_BATCH_FLOWS} files`)
    .optional(),
  jobs: z.array(JobRequest).min(1).max(MAX_BATCH_JOBS),
});
export type BatchRequest = z.infer<typeof BatchRequest>;

/**
 * What the service answers about a batch. `state` is `queued` until its first job begins, then `running`; in the end
 * `stopped` where it was cancelled, else `completed` where every job did, else `failed`.
 */
export const BatchRecord = z.object({
  id: BatchId,
  name: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  state: SessionStatus,
  parallel: z.int().nullable(),
  /** `total` are the jobs that it came with; those that were removed since are in no other count. */
  counts: z.object({
    total: z.int(),
    queued: z.int(),
    running: z.int(),
    completed: z.int(),
    failed: z.int(),
    stopped: z.int(),
  }),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  links: z.object({
    self: z.string(),
    jobs: z.string(),
    events: z.string(),
    download: z.string(),
    junit: z.string(),
  }),
});
export type BatchRecord = z.infer<typeof BatchRecord>;

/** What `POST /api/batches` answers: the record, and the ids of the jobs in the order in which they came. */
export const AcceptedBatch = BatchRecord.extend({ jobs: z.array(z.string()) });
export type AcceptedBatch = z.infer<typeof AcceptedBatch>;

/**
 * `GET /api/batches/{id}/junit?links=&folder=`: `urls` (the default) leads to the service's own pages, `files` to what
 * the batch's zip has, below `folder`; `none` leaves them out.
 */
export const BatchJUnitQuery = z.strictObject({
  links: z.enum(['urls', 'files', 'none']).optional(),
  folder: z.string().max(1000).optional(),
});
export type BatchJUnitQuery = z.infer<typeof BatchJUnitQuery>;
