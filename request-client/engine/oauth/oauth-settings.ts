import { GRANT_TYPES, type GrantType } from '../../protocol/request-window.js';
import type { OAuthParameter } from '../collection/auth.js';
import { loginFailed } from './login-failed.js';

/** OAuth 2.0 settings of a request with all variables replaced. */
export interface OAuthSettings {
  readonly grantType: GrantType;
  /** Empty for client credentials. */
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Empty if there is none. */
  readonly clientSecret: string;
  readonly scope: string;
  readonly audience: string;
  readonly sendSecretIn: 'header' | 'body';
  /** Where tokens are refreshed; the token endpoint if it is empty. */
  readonly refreshUrl: string;
  readonly parameters: readonly OAuthParameter[];
}

/** The client's own key first, then Postman's. */
const KEYS = {
  grantType: ['grant_type'],
  authorizationUrl: ['authorizationUrl', 'authUrl'],
  tokenUrl: ['url', 'accessTokenUrl'],
  clientId: ['client_id', 'clientId'],
  clientSecret: ['client_secret', 'clientSecret'],
  scope: ['scope'],
  audience: ['audience'],
  clientAuthentication: ['client_authentication', 'clientAuth'],
  refreshUrl: ['refreshTokenUrl'],
} as const;

/** The keys of each setting: the one that is written, then others that are read. */
export const OAUTH_KEYS: readonly (readonly [own: string, ...aliases: string[]])[] = Object.values(KEYS);

/** The labels of the fields. */
const LABELS = {
  authorizationUrl: 'Authorization URL',
  tokenUrl: 'Access Token URL',
  clientId: 'Client ID',
  clientSecret: 'Client Secret',
  refreshUrl: 'Refresh Token URL',
} as const;

/**
 * Reads stored settings. `resolve` replaces variables and keeps those without a value.
 * @throws LOGIN_FAILED, before any browser opens, with the fields that are missing, wrong or have variables without a
 *   value
 */
export function readOAuthSettings(
  stored: ReadonlyMap<string, string>,
  resolve: (text: string) => string,
  parameters: readonly OAuthParameter[] = [],
): OAuthSettings {
  const value = (field: keyof typeof KEYS): string => {
    const key = KEYS[field].find((one) => (stored.get(one) ?? '') !== '');
    return resolve(key === undefined ? '' : (stored.get(key) ?? '')).trim();
  };
  const grantType = grantTypeNamed(value('grantType'));
  const needed = neededFields(grantType);
  const settings: OAuthSettings = {
    grantType,
    authorizationUrl: grantType === 'client_credentials' ? '' : value('authorizationUrl'),
    tokenUrl: value('tokenUrl'),
    clientId: value('clientId'),
    clientSecret: value('clientSecret'),
    scope: value('scope'),
    audience: value('audience'),
    sendSecretIn: value('clientAuthentication') === 'body' ? 'body' : 'header',
    refreshUrl: value('refreshUrl'),
    parameters: parameters.map((one) => ({ ...one, name: resolve(one.name), value: resolve(one.value) })),
  };
  const texts = [...Object.values(settings), ...settings.parameters.flatMap(({ name, value: own }) => [name, own])];
  const places = texts.flatMap((text) => (typeof text === 'string' ? text.match(/\{\{[^{}]+\}\}/g) : null) ?? []);
  const unresolved = new Set(places);
  if (unresolved.size > 0) {
    throw loginFailed('SETTINGS', `no value for ${[...unresolved].join(', ')}; give the variables a value`);
  }
  const missing = needed.filter((field) => settings[field] === '').map((field) => LABELS[field]);
  if (missing.length > 0) {
    throw loginFailed(
      'SETTINGS',
      `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} empty; fill all required fields`,
    );
  }
  for (const field of ['authorizationUrl', 'tokenUrl', 'refreshUrl'] as const) {
    if (settings[field] === '' || /^https?:$/.test(protocolOf(settings[field]))) continue;
    throw loginFailed(
      'SETTINGS',
      `the ${LABELS[field]} '${settings[field]}' is not a URL; check that it begins with https://`,
    );
  }
  return settings;
}

/** How a token is added to a request. */
export interface TokenPlace {
  readonly in: 'header' | 'query';
  /** The scheme of the Authorization header. */
  readonly prefix: string;
  /** A token that was pasted into the collection; empty if there is none. */
  readonly pasted: string;
}

/** Reads Postman's settings that concern the token itself. */
export function readTokenPlace(stored: ReadonlyMap<string, string>, resolve: (text: string) => string): TokenPlace {
  const value = (key: string): string => resolve(stored.get(key) ?? '').trim();
  const pasted = value('accessToken');
  return {
    in: value('addTokenTo') === 'queryParams' ? 'query' : 'header',
    prefix: value('headerPrefix') || 'Bearer',
    pasted: /^\{\{[^{}]*\}\}$/.test(pasted) ? '' : pasted,
  };
}

/** A warning for each URL of a remote provider that is not encrypted: tokens and secrets can be read on the way. */
export function insecureUrls({ authorizationUrl, tokenUrl, refreshUrl }: OAuthSettings): string[] {
  return [
    [LABELS.authorizationUrl, authorizationUrl],
    [LABELS.tokenUrl, tokenUrl],
    [LABELS.refreshUrl, refreshUrl],
  ].flatMap(([label, url = '']) => {
    if (protocolOf(url) !== 'http:' || isLoopback(new URL(url).hostname)) return [];
    return [`The ${label} ${url} is not encrypted: others on the network can read secrets and tokens; use https://`];
  });
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/s.test(hostname);
}

function neededFields(grantType: GrantType): (keyof typeof LABELS)[] {
  if (grantType === 'client_credentials') return ['tokenUrl', 'clientId', 'clientSecret'];
  return ['authorizationUrl', 'tokenUrl', 'clientId'];
}

function grantTypeNamed(name: string): GrantType {
  const names: readonly GrantType[] = ['client_credentials', 'authorization_code', 'authorization_code_with_pkce'];
  const found = names.find((one) => one === name);
  if (found !== undefined) return found;
  const offered = Object.values(GRANT_TYPES).join(', ');
  throw loginFailed(
    'SETTINGS',
    `the grant type ${name === '' ? 'is not chosen' : `'${name}' is not known`}; select one of: ${offered}`,
  );
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
