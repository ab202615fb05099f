import { z } from 'zod';
import { SessionId, SessionRecord } from './session.js';

/** `POST /api/sessions/run`: the record, and whether the response came before the session's end. */
export const RunAnswer = SessionRecord.extend({ timedOut: z.literal(true).optional() });

/** `DELETE /api/sessions/{id}`. */
export const RemovedSession = z.object({
  id: SessionId,
  sessionId: SessionId,
  status: z.literal('stopped'),
  deleted: z.literal(true),
});

/** A file of a session: a download of its browser, or an upload for it. */
export const SessionFile = z.object({
  name: z.string(),
  bytes: z.int(),
  source: z.enum(['download', 'upload']),
  modifiedAt: z.iso.datetime(),
});
export type SessionFile = z.infer<typeof SessionFile>;

/** An entry of `GET /api/sessions/{id}/artifacts`. */
export const SessionArtifact = z.object({
  /** As in the zip, with forward slashes. */
  path: z.string(),
  bytes: z.int(),
  modifiedAt: z.iso.datetime(),
});
export type SessionArtifact = z.infer<typeof SessionArtifact>;

/** A part of the service that does not work now. */
export const HealthFault = z.object({
  /** `reports`, `screenshot comparison`, `large pictures for MCP`, `sessions`, `scripts`, `Playwright`, `network of browsers`. */
  part: z.string(),
  /** Which thread could not start, and why. */
  reason: z.string(),
  /** When it first failed. */
  since: z.iso.datetime(),
});

/** The response of `GET /api/health`. */
export const Health = z.object({
  /** `failing`: the journal cannot be written, so no session is accepted; `reason` says why. */
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
    /** Queued jobs. */
    queued: z.int(),
    /** Warm browsers that are ready. */
    warm: z.int(),
    /** Sessions that run and jobs that wait, on all nodes. */
    demand: z.int(),
  }),
  /** What a session gets if its request does not say. */
  defaults: z.object({
    /** In seconds; of live sessions. */
    idleTimeout: z.number(),
    /** In seconds. */
    hardTimeout: z.number(),
    video: z.enum(['off', 'on', 'on-failure']),
  }),
  /**
   * Parts that did not work when they were last needed; each is tried again when it is needed next. Missing if there are
   * none.
   */
  faults: z.array(HealthFault).optional(),
});
export type Health = z.infer<typeof Health>;

/** The part of the health that the supervisor knows. */
export type OwnHealth = Omit<Health, 'server'>;

/** A service of several that share a database. */
export const NodeInfo = z.object({
  id: z.string(),
  /** Where other nodes reach it. */
  url: z.string(),
  version: z.string(),
  /** `draining`: it takes no more work; `lost`: it has not renewed its lease, and others take over its sessions. */
  state: z.enum(['up', 'draining', 'lost']),
  /** Its `maxSessions`. */
  places: z.int(),
  running: z.int(),
  /** When it last renewed its lease. */
  seen: z.iso.datetime(),
});
export type NodeInfo = z.infer<typeof NodeInfo>;

/** `DELETE /api/nodes/{id}`. */
export const RemovedNode = z.object({ id: z.string(), removed: z.literal(true) });

/** A model that jobs may use. */
export const ModelInfo = z.object({
  id: z.string(),
  /** True for the model of jobs that name none. */
  default: z.boolean(),
  /** False if its key is missing. */
  ready: z.boolean(),
  /** The environment variable of its key; null if it needs none. */
  apiKeyEnv: z.string().nullable(),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

/** `GET /api/proof`: what only the service that wrote its file can compute. */
export const ServiceProof = z.object({ proof: z.string() });

/** `POST` and `DELETE /api/login`. */
export const SignedIn = z.object({ signedIn: z.boolean() });
