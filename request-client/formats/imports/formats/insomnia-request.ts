import { asObject, type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import {
  authOf,
  entry,
  type ImportedPair,
  languageOf,
  rawBody,
  requestItem,
  warnOfUnread,
} from '../collection-items.js';
import type { Findings } from '../findings.js';

/** What makes Insomnia's scripts run here: its object has the names of Postman's. */
export const INSOMNIA_SCRIPT_HEAD = 'const insomnia = pm;\n';
/** What {@link ../../exports/export-insomnia} writes in front of Postman's scripts. */
export const POSTMAN_IN_INSOMNIA = 'const pm = insomnia;\n';

/** A request of Insomnia 4 or 5; the two name only a few members differently. */
export interface InsomniaRequest {
  readonly value: unknown;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly description: string | undefined;
  /** `off` and the like; undefined if the global setting counts. */
  readonly followRedirects: string | undefined;
  readonly encodeUrl: unknown;
}

export function insomniaItem(request: InsomniaRequest, findings: Findings): JsonObject {
  const { value, before, after, description, followRedirects, encodeUrl } = request;
  const name = textOf(member(value, 'name')) ?? 'Request';
  const text = (key: string): string => templated(textOf(member(value, key)) ?? '', name, findings);
  const pairs = (list: unknown): ImportedPair[] => insomniaPairs(list, name, findings);
  const body = bodyOf(member(value, 'body'), name, findings);
  const isForm = member(body, 'mode') === 'formdata';
  return requestItem({
    name,
    method: textOf(member(value, 'method')) ?? 'GET',
    url: text('url'),
    query: pairs(member(value, 'parameters')),
    pathVariables: pairs(member(value, 'pathParameters')),
    headers: pairs(member(value, 'headers')).filter((header) => !isForm || !/^content-type$/i.test(header.name)),
    body,
    auth: insomniaAuth(member(value, 'authentication'), name, findings),
    before: scriptOf(before),
    after: scriptOf(after),
    description,
    behaviour: {
      ...(followRedirects === 'off' ? { followRedirects: false } : {}),
      ...(encodeUrl === false ? { disableUrlEncoding: true } : {}),
    },
  });
}

/** Rows of `{name, value, disabled}`. */
export function insomniaPairs(list: unknown, place: string, findings: Findings): ImportedPair[] {
  return listOf(list).flatMap((row) => {
    const name = textOf(member(row, 'name'));
    if (name === undefined || name === '') return [];
    const value = templated(textOf(member(row, 'value')) ?? '', place, findings);
    const description = textOf(member(row, 'description'));
    return [{ name: templated(name, place, findings), value, enabled: member(row, 'disabled') !== true, description }];
  });
}

export function scriptOf(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (text.startsWith(POSTMAN_IN_INSOMNIA)) return text.slice(POSTMAN_IN_INSOMNIA.length);
  return /\binsomnia\b/.test(text) ? `${INSOMNIA_SCRIPT_HEAD}${text}` : text;
}

/** Template tags that have a dynamic variable of Postman. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^now\s+'iso-8601'/, '$isoTimestamp'],
  [/^now\s+'unix'/, '$timestamp'],
  [/^uuid\b/, '$guid'],
];

/** `{{ _.name }}` becomes `{{name}}`; tags (`{% ... %}`) are translated, or stay and are named in a warning. */
export function templated(text: string, place: string, findings: Findings): string {
  const named = text
    .replace(/\{\{\s*(?:_\.)?([\w.$-]+)\s*\}\}/g, '{{$1}}')
    .replace(/\{\{\s*_\[['"]([^'"]+)['"]\]\s*\}\}/g, '{{$1}}');
  const filtered = /\{\{[^{}]*\|[^{}]*\}\}/.exec(named);
  if (filtered !== null)
    findings.warn(
      place,
      'filter',
      `Filters of templates are not supported and are kept as text: ${filtered[0].slice(0, 60)}`,
    );
  return named.replace(/\{%\s*([\s\S]*?)\s*%\}/g, (all, tag: string) => {
    const known = TAGS.find(([pattern]) => pattern.test(tag));
    if (known !== undefined) return `{{${known[1]}}}`;
    const [word = ''] = /^\w+/.exec(tag) ?? [];
    findings.warn(place, word, `The template tag '${word}' is not supported and is kept as text`);
    return all;
  });
}

function bodyOf(body: unknown, place: string, findings: Findings): JsonObject | null {
  const type = textOf(member(body, 'mimeType')) ?? '';
  const text = templated(textOf(member(body, 'text')) ?? '', place, findings);
  const params = listOf(member(body, 'params'));
  const fileName = textOf(member(body, 'fileName')) ?? '';
  if (fileName !== '') return { mode: 'file', file: { src: fileName } };
  if (type === 'application/x-www-form-urlencoded' && params.length > 0)
    return { mode: 'urlencoded', urlencoded: insomniaPairs(params, place, findings).map(entry) };
  if (type === 'multipart/form-data') {
    return {
      mode: 'formdata',
      formdata: params.flatMap((param) => {
        const [pair] = insomniaPairs([param], place, findings);
        if (pair === undefined) return [];
        const { value, ...rest } = entry(pair);
        const path = textOf(member(param, 'fileName')) ?? '';
        const contentType = textOf(member(param, 'multiline'));
        const typed = contentType?.includes('/') === true ? { contentType } : {};
        return [
          member(param, 'type') === 'file'
            ? { ...rest, type: 'file', src: path, ...typed }
            : { ...rest, type: 'text', value, ...typed },
        ];
      }),
    };
  }
  if (text === '') return null;
  if (type === 'application/graphql') return graphqlBody(text);
  return rawBody(text, languageOf(type));
}

function graphqlBody(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    const variables = member(value, 'variables');
    return {
      mode: 'graphql',
      graphql: {
        query: textOf(member(value, 'query')) ?? '',
        variables:
          typeof variables === 'string' ? variables : variables === undefined ? '' : JSON.stringify(variables, null, 2),
      },
    };
  } catch {
    return rawBody(text, 'json');
  }
}

/** Postman's `auth`; null if the request inherits it. */
export function insomniaAuth(value: unknown, place: string, findings: Findings): JsonObject | null {
  const type = textOf(member(value, 'type'));
  if (type === undefined || asObject(value) === undefined) return null;
  const get = (key: string): string | undefined => {
    const text = textOf(member(value, key));
    return text === undefined ? undefined : templated(text, place, findings);
  };
  if (member(value, 'disabled') === true) {
    findings.note(place, type, 'Authorization that is switched off is not imported');
    return authOf('noauth');
  }
  const user = { username: get('username'), password: get('password') };
  switch (type) {
    case 'none':
      return authOf('noauth');
    case 'basic':
    case 'digest':
    case 'ntlm':
      return authOf(type, user);
    case 'bearer':
    case 'singleToken': {
      const prefix = get('prefix') ?? '';
      if (prefix === '' || prefix === 'Bearer') return authOf('bearer', { token: get('token') });
      return authOf('apikey', { key: 'Authorization', value: `${prefix} ${get('token') ?? ''}`, in: 'header' });
    }
    case 'apikey': {
      const addTo = get('addTo') ?? 'header';
      if (addTo === 'cookie')
        return authOf('apikey', { key: 'Cookie', value: `${get('key') ?? ''}=${get('value') ?? ''}`, in: 'header' });
      return authOf('apikey', {
        key: get('key'),
        value: get('value'),
        in: addTo === 'queryParams' ? 'query' : 'header',
      });
    }
    case 'iam':
      return authOf('awsv4', {
        accessKey: get('accessKeyId'),
        secretKey: get('secretAccessKey'),
        sessionToken: get('sessionToken'),
        region: get('region'),
        service: get('service'),
      });
    case 'hawk':
      return authOf('hawk', {
        authId: get('id'),
        authKey: get('key'),
        algorithm: get('algorithm'),
        extraData: get('ext'),
      });
    case 'oauth1':
      return authOf('oauth1', {
        signatureMethod: get('signatureMethod'),
        consumerKey: get('consumerKey'),
        consumerSecret: get('consumerSecret'),
        token: get('tokenKey'),
        tokenSecret: get('tokenSecret'),
        privateKey: get('privateKey'),
        version: get('version'),
        realm: get('realm'),
        callback: get('callback'),
        verifier: get('verifier'),
      });
    case 'oauth2':
      return oauth2(value, get, place, findings);
    default:
      findings.warn(place, type, `The authorization '${type}' is not supported and is not imported`);
      return null;
  }
}

/** Also those that change nothing here: what a login makes itself, and what is of grants that are refused. */
const OAUTH_READ = [
  ...['type', 'disabled', 'grantType', 'usePkce', 'pkceMethod', 'authorizationUrl', 'accessTokenUrl', 'clientId'],
  ...['clientSecret', 'scope', 'audience', 'credentialsInBody', 'tokenPrefix', 'responseType', 'username', 'password'],
];

function oauth2(
  value: unknown,
  get: (key: string) => string | undefined,
  place: string,
  findings: Findings,
): JsonObject {
  const grant = get('grantType') ?? '';
  const pkce = member(value, 'usePkce') === true;
  const supported = ['authorization_code', 'client_credentials'].includes(grant);
  if (!supported)
    findings.warn(place, grant, `The OAuth 2.0 grant '${grant}' is not supported: select another one in the Auth tab`);
  warnOfUnread(value, OAUTH_READ, place, findings);
  return authOf('oauth2', {
    grant_type: grant === 'authorization_code' && pkce ? 'authorization_code_with_pkce' : grant,
    authorizationUrl: get('authorizationUrl'),
    url: get('accessTokenUrl'),
    client_id: get('clientId'),
    client_secret: get('clientSecret'),
    scope: get('scope'),
    ...((get('audience') ?? '') === '' ? {} : { audience: get('audience') }),
    ...(member(value, 'credentialsInBody') === true ? { client_authentication: 'body' } : {}),
    ...((get('tokenPrefix') ?? '') === '' ? {} : { headerPrefix: get('tokenPrefix') }),
  });
}
