import { asObject, type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { authOf } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { References } from './openapi-references.js';

/** The auth for a `security` list: its first alternative. Null if the list is missing. Values are variables. */
export function securityAuth(
  security: unknown,
  schemes: unknown,
  references: References,
  place: string,
  findings: Findings,
): JsonObject | null {
  if (!Array.isArray(security)) return null;
  const [first] = security;
  const names = Object.keys(asObject(first) ?? {});
  const [name] = names;
  if (name === undefined) return authOf('noauth');
  if (security.length > 1) findings.note(place, 'security', 'Of several ways to authorize, the first one is imported');
  if (names.length > 1)
    findings.warn(
      place,
      'security',
      `Of '${names.join("', '")}', which are needed together, only the first is imported`,
    );
  const scheme = references.resolve(member(schemes, name));
  const scopes = listOf(member(first, name)).map(String).join(' ');
  const variable = (what: string): string => `{{${what}}}`;
  switch (textOf(member(scheme, 'type'))) {
    case 'basic':
      return authOf('basic', { username: variable('username'), password: variable('password') });
    case 'http': {
      const kind = (textOf(member(scheme, 'scheme')) ?? '').toLowerCase();
      if (kind === 'bearer') return authOf('bearer', { token: variable('bearerToken') });
      if (kind === 'basic' || kind === 'digest')
        return authOf(kind, { username: variable('username'), password: variable('password') });
      findings.warn(place, kind, `The authorization '${kind}' is not imported`);
      return null;
    }
    case 'apiKey': {
      const key = textOf(member(scheme, 'name')) ?? '';
      const where = textOf(member(scheme, 'in'));
      if (where === 'cookie')
        return authOf('apikey', { key: 'Cookie', value: `${key}=${variable('apiKey')}`, in: 'header' });
      return authOf('apikey', { key, value: variable('apiKey'), in: where === 'query' ? 'query' : 'header' });
    }
    case 'oauth2':
      return oauth2(scheme, scopes, place, findings);
    default:
      findings.warn(place, name, `The security scheme '${name}' is not imported`);
      return null;
  }
}

/** The variables that {@link securityAuth} uses. */
export const SECURITY_VARIABLES = ['username', 'password', 'bearerToken', 'apiKey', 'clientId', 'clientSecret'];

function oauth2(scheme: unknown, scope: string, place: string, findings: Findings): JsonObject | null {
  const flows = asObject(member(scheme, 'flows'));
  const kind =
    flows === undefined
      ? textOf(member(scheme, 'flow'))
      : Object.keys(flows).find((one) => /^(?:authorizationCode|clientCredentials)$/.test(one));
  const flow = flows === undefined ? scheme : flows[kind ?? ''];
  const byUser = kind === 'authorizationCode' || kind === 'accessCode';
  if (!byUser && kind !== 'clientCredentials' && kind !== 'application') {
    findings.warn(
      place,
      'oauth2',
      `The OAuth 2.0 flow '${kind ?? Object.keys(flows ?? {})[0] ?? ''}' is not supported and is not imported`,
    );
    return null;
  }
  return authOf('oauth2', {
    grant_type: byUser ? 'authorization_code_with_pkce' : 'client_credentials',
    authorizationUrl: member(flow, 'authorizationUrl'),
    url: member(flow, 'tokenUrl'),
    refreshTokenUrl: member(flow, 'refreshUrl'),
    client_id: '{{clientId}}',
    client_secret: '{{clientSecret}}',
    scope,
  });
}
