import { z } from 'zod';
import { TroupeError } from '../errors.js';

/** Whether a session has a trace: `on-failure` keeps it only if the session did not complete. */
export const TraceWhen = z.enum(['off', 'on', 'on-failure']);
export type TraceWhen = z.infer<typeof TraceWhen>;

/** The artifact that Playwright's trace viewer opens. */
export const TRACE = 'trace.zip';

/**
 * A line of the file in which a running session collects what only its trace needs: the console of its pages, and the
 * sources of its flows. `at` is in milliseconds since 1970.
 */
export const TraceLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('console'),
    at: z.number(),
    level: z.string(),
    text: z.string(),
    url: z.string(),
    /** From 1. */
    line: z.int(),
    column: z.int(),
  }),
  /** An error that a page's script did not catch. */
  z.object({ kind: z.literal('error'), at: z.number(), text: z.string(), url: z.string() }),
  z.object({ kind: z.literal('source'), flow: z.string(), text: z.string() }),
  /** Something is missing from here on, as a sentence. */
  z.object({ kind: z.literal('dropped'), at: z.number(), text: z.string() }),
]);
export type TraceLine = z.infer<typeof TraceLine>;

/** What opens a session's trace in the viewer: an address that expires. */
export const TraceLink = z.object({ url: z.url(), expiresAt: z.iso.datetime() });
export type TraceLink = z.infer<typeof TraceLink>;

/** The error for a session without a trace. */
export function noTrace(): TroupeError {
  return new TroupeError('NOT_FOUND', 'The session has no trace; create it with "trace": "on"');
}
