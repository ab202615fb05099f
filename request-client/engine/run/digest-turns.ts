import { randomBytes } from 'node:crypto';
import type { Answer } from '../connection/answer.js';
import { type DigestChallenge, digestChallenge, digestHeader } from './digest-auth.js';
import type { PreparedRequest } from './prepared-request.js';
import { requestTarget } from './request-target.js';
import { headerValues } from './response.js';

/** The state of Digest authentication for one request and its redirects. */
export class DigestTurns {
  #challenge: DigestChallenge | null = null;
  #count = 0;

  /** The request with the answer to the last challenge; unchanged if there was none. */
  authorized(request: PreparedRequest): PreparedRequest {
    const { auth, method, url, settings, headers } = request;
    if (this.#challenge === null || auth?.kind !== 'digest') return request;
    this.#count += 1;
    const uri = requestTarget(url, settings.encodeUrl).path;
    const turn = { method: method.toUpperCase(), uri, count: this.#count, cnonce: randomBytes(16).toString('hex') };
    return {
      ...request,
      headers: [{ name: 'Authorization', value: digestHeader(this.#challenge, auth, turn) }, ...headers],
    };
  }

  /**
   * Whether the server sent a challenge that calls for a repeat: the first one, or one because the nonce is too old.
   */
  asked({ auth }: PreparedRequest, { status, headers }: Answer): boolean {
    if (auth?.kind !== 'digest' || status !== 401) return false;
    const challenge = digestChallenge(headerValues(headers, 'www-authenticate'));
    const known = this.#challenge;
    if (challenge === null || (known !== null && (!challenge.stale || challenge.nonce === known.nonce))) return false;
    this.#challenge = challenge;
    this.#count = 0;
    return true;
  }
}
