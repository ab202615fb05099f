import { z } from 'zod';
import { EVENT_DATA, Step } from './events.js';
import { ErrorBodySchema, SessionId, SessionStatus, Tokens } from './session.js';

const ReportedFlow = z.object({
  path: z.string(),
  status: z.enum(['passed', 'failed', 'interrupted']),
  startedAt: z.iso.datetime(),
  durationMs: z.number(),
  error: ErrorBodySchema.optional(),
  line: z.int().optional(),
});

/** `report.json` of an artifact archive (spec section 4). */
export const Report = z.object({
  schemaVersion: z.literal(1),
  sessionId: SessionId,
  name: z.string().nullable(),
  mode: z.string(),
  prompt: z.string().nullable(),
  model: z.string().nullable(),
  status: SessionStatus,
  summary: z.string().nullable(),
  error: ErrorBodySchema.nullable(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  durationMs: z.number(),
  iterations: z.int(),
  tokens: Tokens,
  /** Of the last attempt. */
  flows: z.array(ReportedFlow),
  /** Attempts that failed before the last one, where the job says `retries`. */
  attempts: z.array(
    z.object({ attempt: z.int(), endedAt: z.iso.datetime(), error: ErrorBodySchema, flows: z.array(ReportedFlow) }),
  ),
  /** Answers that a model was asked for, also those that did not come; the first 1,000. Long texts are cut. */
  modelCalls: z.array(
    z.object({
      call: z.int(),
      model: z.string(),
      startedAt: z.iso.datetime(),
      durationMs: z.number(),
      text: z.string(),
      /** What it asked for, and what it was told of it; null while that is not known. */
      tools: z.array(
        z.object({
          name: z.string(),
          source: z.string(),
          answer: z.object({ ok: z.boolean(), text: z.string() }).nullable(),
        }),
      ),
      /** What else it was told after it. */
      nudges: z.array(z.string()),
      tokens: Tokens,
      error: ErrorBodySchema.optional(),
      attempt: z.int().optional(),
    }),
  ),
  /** Of all attempts; `attempt` is missing in the first. */
  steps: z.array(Step.extend({ at: z.iso.datetime(), attempt: z.int().optional() })),
  assertions: z.array(EVENT_DATA.AssertionChecked.extend({ at: z.iso.datetime() })),
  /** Where a model did by hand what a flow could not. */
  deviations: z.array(
    z.object({
      flow: z.string(),
      line: z.int().nullable(),
      text: z.string(),
      error: ErrorBodySchema,
      /** What was done, as agent JS. */
      did: z.array(z.string()),
      /** A mended flow is proposed, under this path. */
      healed: z.string().nullable(),
    }),
  ),
  /** The newest 1,000 lines that scripts wrote; the transcript has all. */
  console: z.array(EVENT_DATA.ConsoleWritten.extend({ at: z.iso.datetime() })),
  /** The newest 1,000. */
  pageErrors: z.array(z.object({ text: z.string(), url: z.string() })),
  artifacts: z.array(z.object({ path: z.string(), bytes: z.int() })),
});
export type Report = z.infer<typeof Report>;
