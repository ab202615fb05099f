import { z } from 'zod';
import { Failure } from '../report/failure.js';
import { TaskOutcome } from '../session.js';
import { BatchRecord, MAX_BATCH_JOBS } from './batch.js';

/** Seconds that a claim lasts unless it is renewed. */
export const CLAIM_LEASE_S = 30;

/** The most that the zip of an attempt may have unpacked, in bytes. */
export const MAX_UNPACKED_BYTES = 2 * 1024 ** 3;

const Lease = z.int().min(1).max(300);

/** `POST /api/batches/join`: all machines of a build send the same; the first one makes the batch. */
export const JoinRequest = z.strictObject({
  /** What the machines have in common, such as the number of the CI's build. */
  build: z.string().min(1).max(200),
  /** A hash of the flows and their files. Machines with another one are refused. */
  hash: z.string().min(1).max(100),
  name: z.string().min(1).max(200).optional(),
  labels: z.record(z.string().min(1).max(100), z.string().max(500)).optional(),
  /** In the order in which they are claimed. */
  jobs: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        /** The flow whose statistics the job counts for, if it counts for any. */
        flow: z.string().min(1).max(200).optional(),
        retries: z.int().min(0).max(10).optional(),
      }),
    )
    .min(1)
    .max(MAX_BATCH_JOBS)
    .refine((jobs) => new Set(jobs.map(({ name }) => name)).size === jobs.length, 'each name once'),
});
export type JoinRequest = z.infer<typeof JoinRequest>;

/** The response of `POST /api/batches/join`. */
export const JoinedBatch = BatchRecord.extend({
  /** Whether this call made it. */
  created: z.boolean(),
});
export type JoinedBatch = z.infer<typeof JoinedBatch>;

/** `POST /api/batches/{id}/claim`. */
export const ClaimRequest = z.strictObject({
  /** The machine, for people. */
  machine: z.string().min(1).max(100).optional(),
  /** Seconds; 30 by default. */
  lease: Lease.optional(),
  /** A random token of the machine's own: the same request again, after a lost answer, gets the same flow. */
  token: z
    .string()
    .regex(/^[\w-]{24}$/, { error: '24 letters, digits, _ or -' })
    .optional(),
});
export type ClaimRequest = z.infer<typeof ClaimRequest>;

/** The response of `POST /api/batches/{id}/claim`. */
export const ClaimAnswer = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('claimed'),
    job: z.object({ name: z.string(), attempt: z.int(), retries: z.int() }),
    /** For renewals and the result; void when the claim has ended. */
    token: z.string(),
    /** Seconds; each renewal begins them anew. */
    lease: z.int(),
  }),
  /** Others run the jobs that are left. One of them may be free again: ask again after so many seconds. */
  z.object({ state: z.literal('waiting'), retryAfter: z.number() }),
  z.object({ state: z.literal('ended') }),
]);
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;

/** `POST /api/batches/{id}/claims/{token}/renew`. */
export const RenewRequest = z.strictObject({ lease: Lease.optional() });
export const RenewAnswer = z.object({ lease: z.int() });
export type RenewAnswer = z.infer<typeof RenewAnswer>;

/** How an attempt at a flow ended: `POST /api/batches/{id}/claims/{token}/result`. */
export const JoinedResult = z.strictObject({
  state: z.enum(['completed', 'failed', 'stopped']),
  startedAt: z.iso.datetime().nullable(),
  durationMs: z.number().nonnegative(),
  /** Of the session on its machine. */
  sessionId: z.string().max(100).nullable(),
  failure: Failure.nullable(),
  /** Whether another attempt may succeed. */
  mayPassAgain: z.boolean(),
  outcome: TaskOutcome.optional(),
});
export type JoinedResult = z.infer<typeof JoinedResult>;

/** The response of `POST /api/batches/{id}/claims/{token}/result`. */
export const ResultAnswer = z.object({ stored: z.literal(true) });

/** The response of `PUT /api/batches/{id}/claims/{token}/artifacts`. */
export const ArtifactsAnswer = z.object({ bytes: z.int() });

/** A job of a joined batch, in `GET /api/batches/{id}/results`. */
export const JoinedFlow = z.object({
  name: z.string(),
  state: z.enum(['queued', 'running', 'completed', 'failed', 'stopped']),
  /** The machine that runs it, or ran it last; null before. */
  machine: z.string().nullable(),
  /** Those that have ended, in order. */
  attempts: z.array(
    z.object({
      attempt: z.int(),
      machine: z.string(),
      /** Null if the machine was lost. */
      result: JoinedResult.nullable(),
      /** The path of the zip with its artifacts; null if there is none. */
      artifacts: z.string().nullable(),
    }),
  ),
});
export type JoinedFlow = z.infer<typeof JoinedFlow>;

/** The response of `GET /api/batches/{id}/results`. */
export const JoinedFlows = z.object({
  createdAt: z.iso.datetime(),
  /** Null while a flow has not ended. */
  endedAt: z.iso.datetime().nullable(),
  flows: z.array(JoinedFlow),
});
export type JoinedFlows = z.infer<typeof JoinedFlows>;
