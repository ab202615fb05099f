import { z } from 'zod';
import { ErrorBodySchema, Tokens } from './session.js';

/** A tool call as the model wrote it. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** Meant to be JSON; the model may have written anything. */
  arguments: z.string(),
  /** What some providers want to see again with the call; nobody else reads it. */
  extra: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** A page as a model is shown it: whole, or what is new since the page that it was shown before. */
export const PageText = z.object({ kind: z.enum(['full', 'diff']), text: z.string() });
export type PageText = z.infer<typeof PageText>;

/**
 * The events of a model at work. Together they are the conversation: whoever folds them knows what the model was told,
 * what it answered, and which of its calls have no recorded end.
 */
export const MODEL_EVENT_DATA = {
  /** The conversation's first two messages. Once an attempt; again where its browser was lost before an answer. */
  ModelStarted: z.object({
    model: z.string(),
    maxIterations: z.int(),
    maxTokens: z.int().nullable(),
    system: z.string(),
    task: z.string(),
    page: PageText.nullable(),
  }),
  /** A request goes out. `call` counts answers that were asked for, `attempt` the tries at one; both from 1. */
  ModelCallStarted: z.object({ call: z.int(), attempt: z.int(), model: z.string() }),
  /** What the model says, as it comes. */
  ModelTextReceived: z.object({ call: z.int(), text: z.string() }),
  /** An answer, or with `error` none. */
  ModelCallFinished: z.object({
    call: z.int(),
    attempt: z.int(),
    model: z.string(),
    durationMs: z.number(),
    text: z.string(),
    toolCalls: z.array(ToolCall),
    /** The provider's word for why the answer ended; `cut` where we ended it. */
    finish: z.string().nullable(),
    tokens: Tokens,
    error: ErrorBodySchema.optional(),
    /** After a failed try: how long until the next; null when there is none with this model. */
    retryInMs: z.number().nullable().optional(),
  }),
  /** What the model was told about one of its tool calls. */
  ToolAnswered: z.object({
    call: z.int(),
    id: z.string(),
    tool: z.string(),
    ok: z.boolean(),
    text: z.string(),
    page: PageText.nullable(),
    /** Tells whether a step had an effect: the same print, nothing that the model can see is different. */
    print: z.string(),
  }),
  /** A failed flow goes on behind or with the call that failed, after something was done by hand. */
  FlowDeviated: z.object({
    /** The flow that goes on; `flow` and `line` are the place where it, or one that it called, failed. */
    path: z.string(),
    flow: z.string(),
    line: z.int().nullable(),
    failed: z.string(),
    error: ErrorBodySchema,
    /** `replace`: the failed call counts as done. `before`: it was made again. */
    how: z.enum(['replace', 'before']),
    did: z.array(z.string()),
  }),
  /** A mended `flow` is proposed, under `healed-flows/`, after `path` went through. */
  FlowHealed: z.object({ path: z.string(), flow: z.string() }),
  /** Something else that the model was told after its answer. */
  ModelNudged: z.object({ call: z.int(), text: z.string(), page: PageText.nullable().optional() }),
} as const;
