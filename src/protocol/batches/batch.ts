import { z } from 'zod';
import { JobRequest, LabelTerm, SessionStatus, WebhookFormat } from '../session.js';

/** The most jobs of one batch. */
export const MAX_BATCH_JOBS = 10_000;
/** The most files of a batch's own flows. */
export const MAX_BATCH_FLOWS = 2_000;

/** A batch's id, in the same format as a session's. */
export const BatchId = z
  .string()
  .regex(/^[a-z0-9]{12}$/)
  .brand<'BatchId'>();
export type BatchId = z.infer<typeof BatchId>;

/** The path of a flow, or of a file that flows read, relative to the flows folder. */
const BatchFlowPath = z
  .string()
  .max(500)
  .regex(/^(?!\.)[^/\\\0]{1,200}(\/(?!\.)[^/\\\0]{1,200})*\.(js|ts|md|json|csv|txt|png)$/, {
    error: 'a path below flows/, with forward slashes, to a .js, .ts, .md, .json, .csv, .txt or .png file',
  });

/** The most characters of a file: a text, or the base64 of a .png file, of which 3 MiB are the most. */
const MAX_FILE = 1024 * 1024;
const MAX_PICTURE = 4 * 1024 * 1024;

/** What `flows` has of a file: its text; for a baseline picture, whose name ends in .png, its bytes in base64. */
const BatchFlows = z
  .record(BatchFlowPath, z.string().max(MAX_PICTURE))
  .refine((flows) => Object.keys(flows).length <= MAX_BATCH_FLOWS, `at most ${MAX_BATCH_FLOWS} files`)
  .refine(
    (flows) => Object.entries(flows).every(([path, text]) => isPicture(path) || text.length <= MAX_FILE),
    'a text has at most 1 MiB',
  )
  .refine(
    (flows) => Object.entries(flows).every(([path, text]) => !isPicture(path) || /^[A-Za-z0-9+/]*={0,2}$/.test(text)),
    'a .png file is its bytes in base64',
  );

/** Whether a file of a batch is a picture, which travels in base64. */
export function isPicture(path: string): boolean {
  return path.endsWith('.png');
}

/** `POST /api/batches`. */
export const BatchRequest = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  /** Labels of all its jobs; a job may add its own. */
  labels: z.record(z.string().min(1).max(100), z.string().max(500)).optional(),
  /** The most jobs of the batch that run at once. */
  parallel: z.int().min(1).max(MAX_BATCH_JOBS).optional(),
  /** The batch's own flows, by path: its jobs use these instead of the service's flows folder. */
  flows: BatchFlows.optional(),
  /** Notified once, when all jobs have ended. */
  webhook: z.url().max(2000).optional(),
  webhookFormat: WebhookFormat.optional(),
  jobs: z.array(JobRequest).min(1).max(MAX_BATCH_JOBS),
});
export type BatchRequest = z.infer<typeof BatchRequest>;

/**
 * A batch as clients get it. `state` is `queued` until its first job starts, then `running`. At the end it is `stopped`
 * if
 * the batch was cancelled, otherwise `completed` if every job completed, otherwise `failed`.
 */
export const BatchRecord = z.object({
  id: BatchId,
  name: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  state: SessionStatus,
  parallel: z.int().nullable(),
  /** Machines claim its jobs; absent for batches whose jobs the service runs. */
  join: z.object({ build: z.string(), hash: z.string() }).optional(),
  /**
   * It is a run of a Playwright suite, whose tests are in `GET /api/batches/{id}/tests`; absent for other batches. `whole`:
   * all tests are known, not only those that began.
   */
  suite: z.object({ whole: z.boolean() }).optional(),
  /** `total` includes jobs that were removed since; the other counts do not. `flaky`: completed only in a retry. */
  counts: z.object({
    total: z.int(),
    queued: z.int(),
    running: z.int(),
    completed: z.int(),
    /** Services before 0.2 do not send it. */
    flaky: z.int().optional(),
    /** Of the completed ones, those that were skipped on purpose; absent if a batch of jobs has none. */
    skipped: z.int().optional(),
    /** Of the completed ones, those in which a flow failed and a model did the rest; absent if there are none. */
    repaired: z.int().optional(),
    failed: z.int(),
    stopped: z.int(),
    /** Tests of a suite that the end of the suite, or a failure before them, kept from running. */
    notRun: z.int().optional(),
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

/** The most failures, and the most flaky jobs, that a message about a batch lists. */
export const MAX_LISTED_JOBS = 100;

/** A job in the message about its batch. */
export interface BatchJob {
  readonly id: string;
  /** Its name; without one its flows, its prompt, or its id. */
  readonly name: string;
  /** Its page; a path if the service does not know its public address. */
  readonly view: string;
}

/** A failed job of a batch, with the first line of the cause. */
export interface BatchFailure extends BatchJob {
  readonly code: string;
  readonly message: string;
  /** Where the flow failed; null if it was not in a flow. */
  readonly flow: string | null;
  readonly line: number | null;
}

/** How a batch ended: the data of its webhook message. */
export interface BatchOutcome extends BatchRecord {
  /** Jobs that completed in a retry, at most {@link MAX_LISTED_JOBS}; `counts.flaky` has their number. */
  readonly flaky: readonly BatchJob[];
  /** Jobs that failed, at most {@link MAX_LISTED_JOBS}; `counts.failed` has their number. */
  readonly failures: readonly BatchFailure[];
}

/**
 * `GET /api/batches?name=&label=&limit=&before=`. With several `label`, all must match; `before` is the `next` of the
 * previous page.
 */
export const BatchListQuery = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  label: z.union([LabelTerm, z.array(LabelTerm).max(20)]).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  before: BatchId.optional(),
});
export type BatchListQuery = z.infer<typeof BatchListQuery>;

/** A page of batches, newest first. `next` is the `before` of the next page; null on the last one. */
export const BatchList = z.object({ batches: z.array(BatchRecord), next: BatchId.nullable() });
export type BatchList = z.infer<typeof BatchList>;

/** `POST /api/batches/{id}/rerun`: `failed` (the default) runs the jobs that did not complete, `all` every job. */
export const RerunRequest = z.strictObject({ jobs: z.enum(['failed', 'all']).optional() });
export type RerunRequest = z.infer<typeof RerunRequest>;

/** The response of `POST /api/batches`: the record, and the ids of the jobs in order. */
export const AcceptedBatch = BatchRecord.extend({ jobs: z.array(z.string()) });
export type AcceptedBatch = z.infer<typeof AcceptedBatch>;

/**
 * `GET /api/batches/{id}/junit?links=&folder=`: `urls` (the default) links to the service, `files` to the contents of
 * the
 * batch's zip, below `folder`; `none` omits links.
 */
export const BatchJUnitQuery = z.strictObject({
  links: z.enum(['urls', 'files', 'none']).optional(),
  folder: z.string().max(1000).optional(),
});
export type BatchJUnitQuery = z.infer<typeof BatchJUnitQuery>;
