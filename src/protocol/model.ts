import { z } from 'zod';
import { ErrorBodySchema, Tokens } from './session.js';

/** A tool call as the model wrote it. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** Should be JSON, but the model may have written anything. */
  arguments: z.string(),
  /** Data that some providers require to be sent back with the call; not used otherwise. */
  extra: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** A page as it is sent to a model: complete, or the changes since the last page it was sent. */
export const PageText = z.object({ kind: z.enum(['full', 'diff']), text: z.string() });
export type PageText = z.infer<typeof PageText>;

/**
 * The events of a model phase. Together they are the conversation: what the model was sent, what it answered, and which
 * of
 * its calls have no recorded end.
 */
export const MODEL_EVENT_DATA = {
  /** The conversation's first two messages. Once per attempt; again if the browser was lost before the first answer. */
  ModelStarted: z.object({
    model: z.string(),
    maxIterations: z.int(),
    maxTokens: z.int().nullable(),
    system: z.string(),
    task: z.string(),
    page: PageText.nullable(),
  }),
  /** A request is sent. `call` is the number of the answer, `attempt` that of the attempt at it; both start at 1. */
  ModelCallStarted: z.object({ call: z.int(), attempt: z.int(), model: z.string() }),
  /** A part of the model's text, while it arrives. */
  ModelTextReceived: z.object({ call: z.int(), text: z.string() }),
  /** An answer; with `error`, a failed attempt. */
  ModelCallFinished: z.object({
    call: z.int(),
    attempt: z.int(),
    model: z.string(),
    durationMs: z.number(),
    text: z.string(),
    toolCalls: z.array(ToolCall),
    /** The provider's finish reason; `cut` if we ended the answer. */
    finish: z.string().nullable(),
    tokens: Tokens,
    error: ErrorBodySchema.optional(),
    /** After a failed attempt: the delay before the next one; null if there is none with this model. */
    retryInMs: z.number().nullable().optional(),
  }),
  /** The result of a tool call, as it was sent to the model. */
  ToolAnswered: z.object({
    call: z.int(),
    id: z.string(),
    tool: z.string(),
    ok: z.boolean(),
    text: z.string(),
    page: PageText.nullable(),
    /** A fingerprint: if it is equal for two steps, the model can see no difference between their outcomes. */
    print: z.string(),
  }),
  /** A failed flow was continued, after or with the failed call, when something had been done by hand. */
  FlowDeviated: z.object({
    /** The flow that was continued; `flow` and `line` are the position where it, or one that it called, failed. */
    path: z.string(),
    flow: z.string(),
    line: z.int().nullable(),
    failed: z.string(),
    error: ErrorBodySchema,
    /** `replace`: the failed call counts as done. `before`: it was repeated. */
    how: z.enum(['replace', 'before']),
    did: z.array(z.string()),
  }),
  /** A repaired `flow` is proposed in `healed-flows/` as `file`, after `path` has passed. Without `file`: `<flow>.js`. */
  FlowHealed: z.object({ path: z.string(), flow: z.string(), file: z.string().optional() }),
  /** Another message to the model, after its answer. */
  ModelNudged: z.object({ call: z.int(), text: z.string(), page: PageText.nullable().optional() }),
} as const;
