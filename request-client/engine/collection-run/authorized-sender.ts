import type { CollectionAuth } from '../collection/auth.js';
import { authorize, withHeader, withQueryPair } from '../collection/authorize.js';
import type { VariableResolver } from '../collection/variables.js';
import { insecureUrls, type OAuthSettings, readOAuthSettings, readTokenPlace } from '../oauth/oauth-settings.js';
import { RunTokens } from '../oauth/run-tokens.js';
import type { TokenStore } from '../oauth/token-store.js';
import type { RequestDraft } from '../request.js';
import { requestTarget } from '../run/request-target.js';
import type { HttpResponse } from '../run/response.js';
import type { HttpSender, SendBounds } from '../run/send-request.js';

type OAuth2Auth = Extract<CollectionAuth, { readonly kind: 'oauth2' }>;

/** Sends requests of one run with their authorization. */
export class AuthorizedSender {
  readonly #sender: HttpSender;
  readonly #tokens: RunTokens;
  readonly #warned = new Set<string>();

  constructor(sender: HttpSender, tokens: TokenStore) {
    this.#sender = sender;
    this.#tokens = new RunTokens(tokens);
  }

  /**
   * @param warn gets each warning once in a run
   * @throws what {@link HttpSender.send} and {@link TokenStore.token} throw
   */
  async send(
    request: RequestDraft,
    auth: CollectionAuth,
    resolver: VariableResolver,
    bounds: SendBounds,
    warn: (text: string) => void,
  ): Promise<HttpResponse> {
    const text = (value: string): string => resolver.text(value);
    if (auth.kind === 'signed') {
      const { signed } = await import('../run/sign-request.js');
      return await this.#sender.send(await signed(request, auth.type, auth.settings, text), bounds);
    }
    if (auth.kind !== 'oauth2') return await this.#sender.send(authorize(request, auth, text), bounds);
    const place = readTokenPlace(auth.settings, text);
    const withToken = (token: string): Promise<HttpResponse> => {
      const authorized =
        place.in === 'query'
          ? withQueryPair(request, 'access_token', token)
          : withHeader(request, 'Authorization', `${place.prefix} ${token}`);
      return this.#sender.send(authorized, bounds);
    };
    const settings = this.#settings(auth, text, place.pasted);
    if (settings === null) return await withToken(place.pasted);
    for (const warning of insecureUrls(settings)) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      warn(warning);
    }
    const { secure, host } = requestTarget(request.url, request.settings.encodeUrl);
    return await this.#tokens.send(settings, `${secure ? 'https' : 'http'}://${host}`, withToken, bounds.signal);
  }

  /** Null if the settings lack what a login needs, and there is a pasted token. */
  #settings(
    { settings, parameters }: OAuth2Auth,
    text: (value: string) => string,
    pasted: string,
  ): OAuthSettings | null {
    try {
      return readOAuthSettings(settings, text, parameters);
    } catch (error) {
      if (pasted === '') throw error;
      return null;
    }
  }
}
