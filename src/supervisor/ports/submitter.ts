/** Who asks for a session. */
export interface Submitter {
  /** Callers that wait take turns; this tells them apart. */
  readonly caller: string;
  /** A repeat of a submission under the same key answers the first one's record; nothing is given up with its client. */
  readonly idempotencyKey?: string | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}
