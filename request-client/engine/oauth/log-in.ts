import { createHash, randomBytes } from 'node:crypto';
import { startLimit } from '#troupe/base/deadline.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { CALLBACK_PORTS } from '../../protocol/request-window.js';
import type { Routes } from '../connection/routes.js';
import type { ReachBounds } from '../run/reach-bounds.js';
import { CallbackListener, withDescription } from './callback-listener.js';
import { loginFailed } from './login-failed.js';
import type { OAuthSettings } from './oauth-settings.js';
import type { GrantedToken } from './token-answer.js';
import { requestToken, withParameters } from './token-endpoint.js';

export interface LoginOptions {
  /** Shows the provider's login page to the user. */
  openBrowser(url: string): Promise<void>;
  /** The login page has answered, or no request waits for it any more. */
  loginOver?(): void;
  readonly callbackPorts?: readonly number[];
  readonly timeoutMs?: number;
  /** Which hosts the token endpoint may be on; all by default. */
  readonly reach?: ReachBounds;
  /** Proxies and certificates for the token endpoint, as they are set at the moment; none by default. */
  routes?(): Routes;
}

/** What protects a login from others: nobody can set it. */
const OF_THE_LOGIN: ReadonlySet<string> = new Set([
  'response_type',
  'redirect_uri',
  'state',
  'code_challenge',
  'code_challenge_method',
]);
/** How long the user has to log in. */
const LOGIN_TIMEOUT_MS = 5 * 60_000;

/**
 * Gets a new token: with the system browser for the authorization code grants (RFC 6749, 7636, 8252), else with the
 * client's own credentials.
 *
 * @throws LOGIN_FAILED or REQUEST_FAILED; the signal's reason when cancelled
 */
export async function logIn(
  settings: OAuthSettings,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const { scope, audience } = settings;
  const wanted = { ...(scope === '' ? {} : { scope }), ...(audience === '' ? {} : { audience }) };
  if (settings.grantType === 'client_credentials') {
    return requestToken(settings, { grant_type: 'client_credentials', ...wanted }, signal, options);
  }
  const state = randomBytes(32).toString('base64url');
  const verifier = settings.grantType === 'authorization_code_with_pkce' ? randomBytes(32).toString('base64url') : null;
  const issuers = [settings.authorizationUrl, settings.tokenUrl].map((url) => new URL(url).origin);
  // Bound before the browser opens, so that no other program can take the port meanwhile.
  const listener = await CallbackListener.open({ state, issuers }, options.callbackPorts);
  try {
    const own = settings.parameters.filter(({ of, name }) => of === 'login' && !OF_THE_LOGIN.has(name));
    const asked = authorizationUrl(settings.authorizationUrl, {
      response_type: 'code',
      client_id: settings.clientId,
      redirect_uri: listener.redirectUri,
      state,
      ...wanted,
      ...(verifier === null ? {} : { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }),
    });
    const url = withParameters(asked, own);
    // The browser command may settle only after a user who is already logged in has come back.
    const opened = open(url, options).then(() => listener.answer);
    const answer = await withTimeout(Promise.race([listener.answer, opened]), options, signal).finally(() =>
      options.loginOver?.(),
    );
    if (answer.kind === 'error') {
      const reason = withDescription(answer);
      throw loginFailed('DENIED', `the provider answered ${reason}; authorize the client, or check its settings there`);
    }
    if (answer.kind === 'refused') {
      throw loginFailed('CALLBACK_REFUSED', `${answer.reason}; check the settings, and run the request again`);
    }
    const grant = {
      grant_type: 'authorization_code',
      code: answer.code,
      redirect_uri: listener.redirectUri,
      ...(verifier === null ? {} : { code_verifier: verifier }),
    };
    return await requestToken(settings, grant, signal, options);
  } finally {
    listener.close();
  }
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Parameters that the user wrote into the URL are kept. */
function authorizationUrl(base: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function open(url: string, { openBrowser }: LoginOptions): Promise<void> {
  try {
    await openBrowser(url);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw loginFailed(
      'NO_BROWSER',
      `the system browser could not be opened (${why}); set BROWSER to the command of a browser`,
    );
  }
}

async function withTimeout<T>(
  answer: Promise<T>,
  { timeoutMs = LOGIN_TIMEOUT_MS, callbackPorts = CALLBACK_PORTS }: LoginOptions,
  signal: AbortSignal,
): Promise<T> {
  const limit = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    const cancelTimer = startLimit(timeoutMs, () => {
      const urls = callbackPorts.map((port) => `http://127.0.0.1:${port}/callback`).join(' ');
      const minutes = Math.max(1, Math.round(timeoutMs / 60_000));
      reject(
        loginFailed(
          'TIMED_OUT',
          `the login was not completed within ${minutes} min; if the page reported an invalid redirect URI, register ${urls}`,
        ),
      );
    });
    const onAbort = (): void => reject(cancelled(signal));
    limit.signal.addEventListener('abort', () => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([answer, ended]);
  } finally {
    limit.abort();
  }
}

function cancelled(signal: AbortSignal): TroupeError {
  const reason: unknown = signal.reason;
  return reason instanceof TroupeError ? reason : new TroupeError('UNAVAILABLE', 'The login was cancelled');
}
