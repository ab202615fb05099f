import { z } from 'zod';
import { SessionId, SessionRecord } from './session.js';

/** `POST /api/sessions/run`: the record, and whether it was answered before the session's end. */
export const RunAnswer = SessionRecord.extend({ timedOut: z.literal(true).optional() });

/** `DELETE /api/sessions/{id}`. */
export const RemovedSession = z.object({
  id: SessionId,
  sessionId: SessionId,
  status: z.literal('stopped'),
  deleted: z.literal(true),
});

/** A file of a session, downloaded by its browser or put there for it. */
export const SessionFile = z.object({
  name: z.string(),
  bytes: z.int(),
  source: z.enum(['download', 'upload']),
  modifiedAt: z.iso.datetime(),
});
export type SessionFile = z.infer<typeof SessionFile>;

/** What `GET /api/health` says. */
export const Health = z.object({
  /** `failing`: nothing can be written, and so nothing is accepted; `reason` says why. */
  status: z.enum(['ok', 'stopping', 'failing']),
  reason: z.string().optional(),
  version: z.string(),
  driver: z.string(),
  /** The HTTP server: uWebSockets.js, or node:http. */
  server: z.enum(['uws', 'node']),
  uptimeSeconds: z.number(),
  capacity: z.object({
    max: z.int(),
    running: z.int(),
    /** Jobs that wait. */
    queued: z.int(),
    /** Browsers that are ready for a session to come. */
    warm: z.int(),
  }),
});
export type Health = z.infer<typeof Health>;

/** What the supervisor knows of it. */
export type OwnHealth = Omit<Health, 'server'>;

/** A model that jobs may use. */
export const ModelInfo = z.object({
  id: z.string(),
  /** True for the one that a job has which names none. */
  default: z.boolean(),
  /** False where its key is not there. */
  ready: z.boolean(),
  /** The environment variable of its key; null where none is needed. */
  apiKeyEnv: z.string().nullable(),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

/** `POST` and `DELETE /api/login`. */
export const SignedIn = z.object({ signedIn: z.boolean() });
