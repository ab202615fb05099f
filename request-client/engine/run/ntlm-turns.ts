import type { Answer } from '../connection/answer.js';
import { ntlmAnswer, ntlmBegin } from './ntlm.js';
import type { PreparedRequest } from './prepared-request.js';
import { headerValues } from './response.js';

/** The state of an NTLM login for one request. It belongs to one connection, on which all its exchanges must be. */
export class NtlmTurns {
  #challenge: string | null = null;

  /** The request with the next message of the login; unchanged if it has another authorization. */
  authorized(request: PreparedRequest): PreparedRequest {
    const { auth, headers } = request;
    if (auth?.kind !== 'ntlm') return request;
    const value = this.#challenge === null ? ntlmBegin(auth) : ntlmAnswer(auth, this.#challenge);
    return { ...request, headers: [{ name: 'Authorization', value }, ...headers] };
  }

  /** Whether the server sent its challenge, which calls for a repeat. */
  asked({ auth }: PreparedRequest, { status, headers }: Answer): boolean {
    if (auth?.kind !== 'ntlm' || status !== 401 || this.#challenge !== null) return false;
    const all = headerValues(headers, 'www-authenticate').flatMap((header) => header.split(/,\s*/));
    this.#challenge = all.find((one) => /^NTLM\s+\S/i.test(one)) ?? null;
    return this.#challenge !== null;
  }
}
