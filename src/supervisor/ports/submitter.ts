/** The caller of a submission. */
export interface Submitter {
  /** Distinguishes callers, so that they can take turns. */
  readonly caller: string;
  /** Repeating a submission with the same key returns the first one's record; a disconnect then cancels nothing. */
  readonly idempotencyKey?: string | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}
