import { z } from 'zod';
import { EVENT_DATA, Step } from '../events.js';
import { ErrorBodySchema, SessionId, SessionStatus, Tokens } from '../session.js';
import { STATES } from '../state-text.js';
import { Failure } from './failure.js';

const ReportedFlow = z.object({
  path: z.string(),
  /** `repaired`: it failed, and a model completed it, or the job without it. */
  status: z.enum(['passed', 'failed', 'repaired', 'skipped', 'interrupted']),
  startedAt: z.iso.datetime(),
  durationMs: z.number(),
  error: ErrorBodySchema.optional(),
  line: z.int().optional(),
  /** Why the flow failed; there if `status` is `failed` or `repaired`. */
  failure: Failure.optional(),
});

/** Why a video of a session never began, ended early, or lacks its end. */
export const VideoFailure = z.object({ at: z.iso.datetime(), reason: z.string() });
export type VideoFailure = z.infer<typeof VideoFailure>;

/** `report.json` of an artifact archive (spec section 4). */
export const Report = z.object({
  schemaVersion: z.literal(1),
  sessionId: SessionId,
  name: z.string().nullable(),
  mode: z.string(),
  prompt: z.string().nullable(),
  model: z.string().nullable(),
  status: SessionStatus,
  /** How it ended, in a word and in a sentence. Absent in reports of earlier versions. */
  outcome: z.enum(STATES).optional(),
  stateText: z.string().optional(),
  summary: z.string().nullable(),
  error: ErrorBodySchema.nullable(),
  /**
   * Why the session failed, or the last error of its flows and scripts; null if there was none. The failures of each
   * flow are in `flows`.
   */
  failure: Failure.nullable(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  /** Of all attempts together, without the pauses between them. */
  durationMs: z.number(),
  /** How long it waited for its first browser, and between its attempts. Absent in reports of earlier versions. */
  queuedMs: z.number().optional(),
  pausedMs: z.number().optional(),
  iterations: z.int(),
  tokens: Tokens,
  /** Flows of the last attempt. */
  flows: z.array(ReportedFlow),
  /** The failed attempts before the last one, if the job has `retries`. */
  attempts: z.array(
    z.object({
      attempt: z.int(),
      endedAt: z.iso.datetime(),
      /** Absent in reports of earlier versions. */
      durationMs: z.number().optional(),
      error: ErrorBodySchema,
      flows: z.array(ReportedFlow),
    }),
  ),
  /** Calls of the model, including failed ones; the first 1,000. Long texts are truncated. */
  modelCalls: z.array(
    z.object({
      call: z.int(),
      model: z.string(),
      startedAt: z.iso.datetime(),
      durationMs: z.number(),
      text: z.string(),
      /** The tool calls and their results; `answer` is null if there is none (yet). */
      tools: z.array(
        z.object({
          name: z.string(),
          source: z.string(),
          answer: z.object({ ok: z.boolean(), text: z.string() }).nullable(),
        }),
      ),
      /** Further messages to the model after the answer. */
      nudges: z.array(z.string()),
      tokens: Tokens,
      error: ErrorBodySchema.optional(),
      attempt: z.int().optional(),
    }),
  ),
  /** Steps of all attempts; the first attempt has no `attempt`. */
  steps: z.array(Step.extend({ at: z.iso.datetime(), attempt: z.int().optional() })),
  assertions: z.array(EVENT_DATA.AssertionChecked.extend({ at: z.iso.datetime() })),
  /** What a model did by hand where a flow failed. */
  deviations: z.array(
    z.object({
      flow: z.string(),
      line: z.int().nullable(),
      text: z.string(),
      error: ErrorBodySchema,
      /** The calls, as agent JS. */
      did: z.array(z.string()),
      /** The path of the proposed repaired flow; null if there is none. */
      healed: z.string().nullable(),
    }),
  ),
  /** The newest 1,000 lines of scripts' console output; the transcript has all. */
  console: z.array(EVENT_DATA.ConsoleWritten.extend({ at: z.iso.datetime() })),
  /** The newest 1,000. */
  pageErrors: z.array(z.object({ text: z.string(), url: z.string() })),
  /** Absent if every video that the session was to have is whole. */
  videoFailures: z.array(VideoFailure).optional(),
  artifacts: z.array(z.object({ path: z.string(), bytes: z.int() })),
});
export type Report = z.infer<typeof Report>;
