import { TroupeError } from '#troupe/protocol/errors.js';
import type { OAuthSettings } from './oauth-settings.js';
import { keyOf, type TokenStore } from './token-store.js';

/** Failures that would repeat for each request of a run, and most of them with a browser window each. */
const LASTING: readonly unknown[] = ['DENIED', 'CALLBACK_REFUSED', 'TIMED_OUT', 'NO_BROWSER', 'PORTS_TAKEN'];

/** The tokens of one run: a login that failed is not tried again for the same configuration. */
export class RunTokens {
  readonly #tokens: TokenStore;
  readonly #failed = new Map<string, TroupeError>();

  constructor(tokens: TokenStore) {
    this.#tokens = tokens;
  }

  /** @throws what {@link TokenStore.token} throws, and again what it threw earlier in this run */
  async token(settings: OAuthSettings, signal: AbortSignal | undefined): Promise<string> {
    const key = keyOf(settings);
    const earlier = this.#failed.get(key);
    if (earlier !== undefined) throw earlier;
    try {
      return await this.#tokens.token(settings, signal);
    } catch (error) {
      const lasts = error instanceof TroupeError && error.code === 'LOGIN_FAILED';
      if (lasts && LASTING.includes(error.details?.cause)) this.#failed.set(key, error);
      throw error;
    }
  }

  /**
   * Sends a request with a token; if the answer is 401, once more with a fresh one, if that needs no browser and this
   * origin has not rejected a fresh one before.
   */
  async send<Answer extends { readonly status: number; dispose(): Promise<void> }>(
    settings: OAuthSettings,
    origin: string,
    send: (token: string) => Promise<Answer>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const token = await this.token(settings, signal);
    const first = await send(token);
    if (first.status !== 401) {
      this.#tokens.replaced(settings, origin, true);
      return first;
    }
    if (!this.#tokens.refused(settings, token, origin)) return first;
    await first.dispose();
    const second = await send(await this.token(settings, signal));
    this.#tokens.replaced(settings, origin, second.status !== 401);
    return second;
  }
}
