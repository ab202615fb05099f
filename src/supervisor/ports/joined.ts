import type { Readable } from 'node:stream';
import type {
  ClaimAnswer,
  ClaimRequest,
  JoinedBatch,
  JoinedFlows,
  JoinedResult,
  JoinRequest,
  RenewAnswer,
} from '../../protocol/batches/joined.js';
import type { OpenFile } from './artifacts.js';

/**
 * Joined batches: machines claim the jobs, and run them on services of their own. Calls reject with a TroupeError: an
 * unknown id is NOT_FOUND, a token that is not, or no longer, that of a claim is CLAIM_LOST; nothing was changed then.
 */
export interface Joined {
  /**
   * Makes the batch of a build, or returns the one that another machine has made.
   * INVALID_REQUEST if that one was made of other flows; FORBIDDEN if it was made with another access token.
   * @param caller of the request, as `RouteRequest.caller`
   */
  join(request: JoinRequest, caller: string): Promise<JoinedBatch>;
  /** FORBIDDEN if the batch was made with another access token; CLAIM_LOST if the token is that of a claim that has ended. */
  claim(batch: string, request: ClaimRequest, caller: string): Promise<ClaimAnswer>;
  renew(batch: string, token: string, leaseSeconds: number): Promise<RenewAnswer>;
  /** Stores the zip of a claimed job. BODY_TOO_LARGE. @returns its bytes */
  storeArtifacts(batch: string, token: string, content: Readable): Promise<number>;
  /** Ends a claim. A result that is sent again changes nothing. */
  finish(batch: string, token: string, result: JoinedResult): Promise<void>;
  /** All jobs with what they have ended with. */
  results(batch: string): Promise<JoinedFlows>;
  /** The zip of an attempt. @param name as {@link results} has it in its paths */
  artifacts(batch: string, name: string): Promise<OpenFile>;
}
