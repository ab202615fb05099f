import { readFile } from 'node:fs/promises';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { OAuthParameter } from '../collection/auth.js';
import type { Routes } from '../connection/routes.js';
import type { ReachBounds } from '../run/reach-bounds.js';
import { HttpSender } from '../run/send-request.js';
import { loginFailed } from './login-failed.js';
import type { OAuthSettings } from './oauth-settings.js';
import { type GrantedToken, readTokenAnswer, type TokenAnswer } from './token-answer.js';

const TIMEOUT_MS = 30_000;
/** A token is short; a longer answer does not come from a token endpoint. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** How the token endpoint is reached; see {@link HttpSender}. */
export interface TokenConnection {
  readonly reach?: ReachBounds;
  routes?(): Routes;
}

/** What the user can do about common errors. */
const REMEDIES: Readonly<Record<string, string>> = {
  invalid_client: 'check Client ID and Client Secret',
  unauthorized_client: 'the provider does not allow this grant type to the client; change it there, or choose another',
  invalid_grant: 'the login has expired, or the callback URL differs from the registered one; authenticate again',
  invalid_scope: 'check the Scope',
  unsupported_grant_type: 'the provider does not offer this grant type; select another',
  redirect_uri_mismatch: 'register the four callback URLs with the provider',
  invalid_request: 'check all fields',
};

/**
 * LOGIN_FAILED for an OAuth error of the endpoint. `details.refused` is set if repeating the request is useless,
 * because its content is rejected.
 */
function refusalOf(error: string, description: string, status: number): TroupeError {
  const remedy = REMEDIES[error] === undefined ? '' : `; ${REMEDIES[error]}`;
  const reason = `${error}${description === '' ? '' : `: ${description}`}`;
  const refused = status < 500 && error !== 'temporarily_unavailable' && error !== 'server_error';
  return loginFailed('TOKEN_REFUSED', `the token endpoint refused (${reason})${remedy}`, { error, refused });
}

/** Whether the provider rejects this grant for good. */
export function isRefusal(error: unknown): boolean {
  return error instanceof TroupeError && error.code === 'LOGIN_FAILED' && error.details?.refused === true;
}

/**
 * One token request. The client authenticates as configured, and if the header is rejected, again with the secret in
 * the body. A redirect is never followed: it could send the secret anywhere.
 *
 * @throws LOGIN_FAILED for an OAuth error and for an answer without a token, REQUEST_FAILED if there is no answer
 */
export async function requestToken(
  settings: OAuthSettings,
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
  { reach, routes }: TokenConnection = {},
): Promise<GrantedToken> {
  const sender = new HttpSender(reach, routes?.());
  const refreshes = grant.grant_type === 'refresh_token' && settings.refreshUrl !== '';
  const endpoint = refreshes ? settings.refreshUrl : settings.tokenUrl;
  const label = refreshes ? 'Refresh Token URL' : 'Access Token URL';
  try {
    const places =
      settings.clientSecret === ''
        ? (['none'] as const)
        : settings.sendSecretIn === 'header'
          ? (['header', 'body'] as const)
          : (['body'] as const);
    let refusal: TroupeError | null = null;
    for (const place of places) {
      const { answer, status } = await post(sender, settings, grant, place, endpoint, signal);
      switch (answer.kind) {
        case 'token':
          return answer.token;
        case 'refused':
          refusal = refusalOf(answer.error, answer.description, status);
          if (answer.error !== 'invalid_client') throw refusal;
          break;
        default: {
          const redirect = status >= 300 && status < 400 ? ' (a redirect is not followed with a secret)' : '';
          throw loginFailed(
            'TOKEN_REFUSED',
            `${endpoint} answered ${status} and no token${redirect}; check the ${label}`,
            { status },
          );
        }
      }
    }
    throw refusal ?? loginFailed('TOKEN_REFUSED', 'nothing was asked');
  } finally {
    sender.close();
  }
}

async function post(
  sender: HttpSender,
  settings: OAuthSettings,
  grant: Readonly<Record<string, string>>,
  place: 'none' | 'header' | 'body',
  endpoint: string,
  signal: AbortSignal,
): Promise<{ answer: TokenAnswer; status: number }> {
  const { clientId, clientSecret } = settings;
  const form = new URLSearchParams(grant);
  const headers = [
    { name: 'Content-Type', value: 'application/x-www-form-urlencoded' },
    { name: 'Accept', value: 'application/json' },
  ];
  if (place === 'header') {
    // RFC 6749, section 2.3.1: both are form-encoded first.
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    headers.push({ name: 'Authorization', value: `Basic ${Buffer.from(pair).toString('base64')}` });
  } else {
    form.set('client_id', clientId);
    if (place === 'body') form.set('client_secret', clientSecret);
  }
  const own = settings.parameters.filter(
    ({ of }) => of === (grant.grant_type === 'refresh_token' ? 'refresh' : 'token'),
  );
  // The user's own value replaces that of this client; a name may have several.
  for (const { name } of own.filter((one) => one.in === 'body')) form.delete(name);
  for (const { name, value } of own.filter((one) => one.in === 'body')) form.append(name, value);
  const written = own.filter((one) => one.in === 'header');
  const replaced = new Set(written.map(({ name }) => name.toLowerCase()));
  const response = await sender.send(
    {
      method: 'POST',
      url: withParameters(
        endpoint,
        own.filter((one) => one.in === 'url'),
      ),
      headers: [
        ...headers.filter(({ name }) => !replaced.has(name.toLowerCase())),
        ...written.map(({ name, value }) => ({ name, value })),
      ],
      withoutHeaders: [],
      body: { kind: 'text', text: form.toString() },
      settings: { followRedirects: false, verifyTls: true, encodeUrl: true },
    },
    { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES, folder: '.', signal },
  );
  try {
    const { body, status } = response;
    const text = body.kind === 'memory' ? body.bytes.toString('utf8') : await readFile(body.path, 'utf8');
    return { answer: readTokenAnswer(status, text), status };
  } finally {
    await response.dispose();
  }
}

/** An address with parameters of the user's own; those of the same name are replaced. */
export function withParameters(address: string, parameters: readonly OAuthParameter[]): string {
  const url = new URL(address);
  for (const { name } of parameters) url.searchParams.delete(name);
  for (const { name, value } of parameters) url.searchParams.append(name, value);
  return parameters.length === 0 ? address : url.href;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ t: text }).toString().slice(2);
}
