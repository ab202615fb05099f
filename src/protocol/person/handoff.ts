import { z } from 'zod';

/** How long a script waits for a person by default, and at most, in milliseconds. */
export const HANDOFF_MS = 600_000;
export const MAX_HANDOFF_MS = 86_400_000;
/** The longest text of a handoff, and the longest note of its answer, in characters. */
export const MAX_HANDOFF_TEXT = 1_000;

/** What a session waits for: a script called `agent.handoff`. */
export const Handoff = z.object({
  /** Unique within the session. */
  id: z.string(),
  /** What the person is asked to do. */
  text: z.string(),
  requestedAt: z.iso.datetime(),
  /** Without an answer by then, the script fails with WAIT_TIMEOUT. */
  expiresAt: z.iso.datetime(),
});
export type Handoff = z.infer<typeof Handoff>;

/** A person's answer. */
export const HandoffOutcome = z.enum(['done', 'refused']);
export type HandoffOutcome = z.infer<typeof HandoffOutcome>;

/** `POST /api/sessions/{id}/handoff`. */
export const HandoffRequest = z.strictObject({
  answer: HandoffOutcome,
  /** What the script gets to know besides. */
  note: z.string().max(MAX_HANDOFF_TEXT).optional(),
  /** The id of the handoff that is meant; without it, the one that is open. */
  handoff: z.string().max(100).optional(),
});
export type HandoffRequest = z.infer<typeof HandoffRequest>;

export const AnsweredHandoff = z.object({ id: z.string(), answer: HandoffOutcome });

/** How a handoff ended. `cancelled`: its script was stopped, or its session ended. */
export const HandoffEnd = z.enum(['done', 'refused', 'timeout', 'cancelled']);
