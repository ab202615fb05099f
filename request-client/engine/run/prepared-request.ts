import type { HeaderEntry, RequestBody, SendSettings, UserAuth } from '../request.js';

/** A request with all variables replaced. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderEntry[];
  /** Lower case: not added by the client itself. */
  readonly withoutHeaders: readonly string[];
  readonly body: RequestBody;
  readonly auth?: UserAuth | null;
  readonly settings: SendSettings;
  /** Cookies of the jar for this URL, as in a Cookie header. They go back to the server that set them. */
  readonly jarCookies?: string;
}
