import type { AutoRequest, LiveRequest, SessionRecord } from '../../protocol/session.js';

/** A session that was accepted, now or by an earlier service. */
export interface AcceptedSession {
  readonly request: LiveRequest | AutoRequest;
  readonly record: SessionRecord;
  /** Who submitted it; see `Submitter`. */
  readonly caller: string;
}
