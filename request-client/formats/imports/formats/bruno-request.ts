import { type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
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

/** Bruno's names for scripts, in terms of Postman's: they are put before an imported script that uses them. */
export const BRUNO_SCRIPT_HEAD = [
  '// The names of Bruno that this script uses.',
  'const bru = { setVar: (k, v) => pm.variables.set(k, v), getVar: (k) => pm.variables.get(k),',
  '  setEnvVar: (k, v) => pm.environment.set(k, v), getEnvVar: (k) => pm.environment.get(k),',
  '  getCollectionVar: (k) => pm.collectionVariables.get(k), interpolate: (text) => pm.variables.replaceIn(text) };',
  'const req = { getUrl: () => pm.request.url.toString(), getMethod: () => pm.request.method,',
  '  getHeader: (k) => pm.request.headers.get(k), setHeader: (k, v) => pm.request.headers.upsert({ key: k, value: v }) };',
  'const res = { get status() { return pm.response.code; }, getStatus: () => pm.response.code,',
  '  getHeader: (k) => pm.response.headers.get(k), getHeaders: () => pm.response.headers.toObject(),',
  '  getResponseTime: () => pm.response.responseTime, get body() { return res.getBody(); },',
  '  getBody() { try { return pm.response.json(); } catch { return pm.response.text(); } } };',
  'const test = pm.test, expect = pm.expect;',
  '',
].join('\n');
/** Settings of OAuth 2.0; also those that change nothing here. */
const OAUTH_READ = [
  ...[
    'grantType',
    'pkce',
    'authorizationUrl',
    'accessTokenUrl',
    'refreshTokenUrl',
    'clientId',
    'clientSecret',
    'scope',
  ],
  ...['credentialsPlacement', 'tokenPlacement', 'tokenHeaderPrefix', 'credentialsId', 'username', 'password'],
  ...['autoFetchToken', 'autoRefreshToken', 'reuseToken', 'tokenSource'],
];
const KNOWN_CALLS =
  /^(?:bru\.(?:setVar|getVar|setEnvVar|getEnvVar|getCollectionVar|interpolate)|req\.(?:getUrl|getMethod|getHeader|setHeader)|res\.(?:status|getStatus|getHeader|getHeaders|getResponseTime|body|getBody))$/;

/** A request as Bruno's JSON export has it; `.bru` files are read into the same form. */
export function brunoItem(item: unknown, findings: Findings): JsonObject {
  const name = textOf(member(item, 'name')) ?? 'Request';
  const request = member(item, 'request');
  const params = listOf(member(request, 'params') ?? member(request, 'query'));
  const path = params.filter((row) => member(row, 'type') === 'path');
  const query = params.filter((row) => member(row, 'type') !== 'path');
  const url = textOf(member(request, 'url')) ?? '';
  // The URL has the enabled parameters already.
  const written = brunoPairs(query).filter(({ enabled }) => !enabled || !url.includes('?'));
  const variables = brunoPairs(member(member(request, 'vars'), 'req'));
  if (listOf(member(item, 'examples')).length > 0) findings.note(name, 'examples', 'Saved examples are not imported');
  return requestItem({
    name,
    method: (textOf(member(request, 'method')) ?? 'GET').toUpperCase(),
    url: environmentNames(url, name, findings),
    query: written,
    pathVariables: brunoPairs(path),
    headers: brunoPairs(member(request, 'headers')),
    body: bodyOf(member(request, 'body'), findings, name),
    auth: brunoAuth(member(request, 'auth'), name, findings),
    before: [setVariables(variables), scriptOf(textOf(member(member(request, 'script'), 'req')), name, findings)].join(
      '',
    ),
    after: afterScript(request, name, findings),
    description: textOf(member(request, 'docs')),
    behaviour: member(member(item, 'settings'), 'followRedirects') === false ? { followRedirects: false } : {},
  });
}

/** The script after a response: variables that are set from it, script, assertions, and tests. */
export function afterScript(request: unknown, place: string, findings: Findings): string {
  const set = brunoPairs(member(member(request, 'vars'), 'res')).filter(({ enabled }) => enabled);
  const variables = set.map(({ name, value }) => `bru.setVar(${JSON.stringify(name)}, ${value ?? 'null'});\n`).join('');
  const asserts = brunoPairs(member(request, 'assertions')).filter(({ enabled }) => enabled);
  const checks = asserts.map((one) => assertion(one, place, findings)).join('');
  const script = [
    variables,
    textOf(member(member(request, 'script'), 'res')) ?? '',
    checks,
    textOf(member(request, 'tests')) ?? '',
  ]
    .filter((text) => text.trim() !== '')
    .join('\n');
  return scriptOf(script, place, findings);
}

export function scriptOf(text: string | undefined, place: string, findings: Findings): string {
  if (text === undefined || text.trim() === '') return '';
  for (const [call] of text.matchAll(/\b(?:bru|req|res)\.\w+/g)) {
    if (!KNOWN_CALLS.test(call)) findings.warn(place, call, `Scripts use '${call}', which has no counterpart here`);
  }
  return /\b(?:bru|req|res)\b|\b(?:test|expect)\s*\(/.test(text) && !text.startsWith(BRUNO_SCRIPT_HEAD)
    ? `${BRUNO_SCRIPT_HEAD}${text}`
    : text;
}

const OPERATORS: Readonly<Record<string, string>> = {
  eq: 'to.eql(V)',
  neq: 'to.not.eql(V)',
  gt: 'to.be.above(V)',
  gte: 'to.be.at.least(V)',
  lt: 'to.be.below(V)',
  lte: 'to.be.at.most(V)',
  contains: 'to.include(V)',
  notContains: 'to.not.include(V)',
  isDefined: 'to.not.be.undefined',
  isUndefined: 'to.be.undefined',
  isNull: 'to.be.null',
  isTruthy: 'to.be.ok',
  isFalsy: 'to.not.be.ok',
  isString: "to.be.a('string')",
  isNumber: "to.be.a('number')",
  isBoolean: "to.be.a('boolean')",
  isArray: "to.be.an('array')",
  isJson: "to.be.an('object')",
};

function assertion({ name, value }: ImportedPair, place: string, findings: Findings): string {
  const [, word = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(value ?? '') ?? [];
  const [operator, operand] = OPERATORS[word] === undefined ? ['eq', value ?? ''] : [word, rest];
  const known = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'contains', 'notContains'].includes(operator);
  if (!known && OPERATORS[operator] === undefined)
    findings.warn(place, word, `The assertion '${word}' is not supported and is left out`);
  const literal = /^(?:-?\d+(?:\.\d+)?|true|false|null)$/.test(operand.trim())
    ? operand.trim()
    : JSON.stringify(operand.replace(/^(["'])(.*)\1$/s, '$2'));
  const check = (OPERATORS[operator] ?? '').replace('V', () => literal);
  return `pm.test(${JSON.stringify(`${name} ${value ?? ''}`)}, () => pm.expect(${name}).${check});\n`;
}

/** Variables that Bruno sets before a request. */
function setVariables(variables: readonly ImportedPair[]): string {
  return variables
    .filter(({ enabled }) => enabled)
    .map(
      ({ name, value }) =>
        `pm.variables.set(${JSON.stringify(name)}, pm.variables.replaceIn(${JSON.stringify(value ?? '')}));\n`,
    )
    .join('');
}

/** Rows of `{name, value, enabled}`. */
export function brunoPairs(list: unknown): ImportedPair[] {
  return listOf(list).flatMap((row) => {
    const name = textOf(member(row, 'name'));
    if (name === undefined) return [];
    return [
      {
        name,
        value: textOf(member(row, 'value')) ?? '',
        enabled: member(row, 'enabled') !== false,
        description: textOf(member(row, 'description')),
      },
    ];
  });
}

function environmentNames(text: string, place: string, findings: Findings): string {
  return text.replace(/\{\{\s*process\.env\.([\w-]+)\s*\}\}/g, (_, name: string) => {
    findings.warn(place, name, `{{process.env.${name}}} is imported as the variable {{${name}}}: set its value`);
    return `{{${name}}}`;
  });
}

function bodyOf(body: unknown, findings: Findings, place: string): JsonObject | null {
  const mode = textOf(member(body, 'mode')) ?? 'none';
  const text = textOf(member(body, mode)) ?? '';
  switch (mode) {
    case 'none':
      return null;
    case 'json':
    case 'xml':
    case 'text':
      return rawBody(text, mode);
    case 'sparql':
      findings.note(place, mode, 'SPARQL is sent as text: set its Content-Type if the server needs it');
      return rawBody(text, languageOf('text/plain'));
    case 'formUrlEncoded':
      return { mode: 'urlencoded', urlencoded: brunoPairs(member(body, mode)).map(entry) };
    case 'multipartForm':
      return {
        mode: 'formdata',
        formdata: listOf(member(body, mode)).flatMap((part): JsonObject[] => {
          const [pair] = brunoPairs([part]);
          if (pair === undefined) return [];
          const { value, ...rest } = entry(pair);
          const contentType = textOf(member(part, 'contentType')) ?? '';
          const typed = contentType === '' ? {} : { contentType };
          const paths = listOf(member(part, 'value')).flatMap((one) => textOf(one) ?? []);
          if (member(part, 'type') === 'file')
            return [{ ...rest, type: 'file', src: paths.length === 1 ? paths[0] : paths, ...typed }];
          return [{ ...rest, type: 'text', value, ...typed }];
        }),
      };
    case 'graphql': {
      const graphql = member(body, mode);
      return {
        mode,
        graphql: {
          query: textOf(member(graphql, 'query')) ?? '',
          variables: textOf(member(graphql, 'variables')) ?? '',
        },
      };
    }
    case 'file': {
      const files = listOf(member(body, mode));
      const chosen = files.find((file) => member(file, 'selected') === true) ?? files[0];
      const path = textOf(member(chosen, 'filePath')) ?? '';
      return path === '' ? null : { mode, file: { src: path } };
    }
    default:
      findings.warn(place, mode, `A body of kind '${mode}' is not imported`);
      return null;
  }
}

/** Postman's `auth`; null if the request inherits it. */
export function brunoAuth(auth: unknown, place: string, findings: Findings): JsonObject | null {
  const mode = textOf(member(auth, 'mode')) ?? 'inherit';
  const own = member(auth, mode);
  const get = (key: string): string | undefined => textOf(member(own, key));
  switch (mode) {
    case 'inherit':
      return null;
    case 'none':
      return authOf('noauth');
    case 'basic':
    case 'digest':
      return authOf(mode, { username: get('username'), password: get('password') });
    case 'ntlm':
      return authOf(mode, { username: get('username'), password: get('password'), domain: get('domain') });
    case 'bearer':
      return authOf(mode, { token: get('token') });
    case 'apikey':
      return authOf(mode, {
        key: get('key'),
        value: get('value'),
        in: get('placement') === 'queryparams' ? 'query' : 'header',
      });
    case 'awsv4':
      return authOf(mode, {
        accessKey: get('accessKeyId'),
        secretKey: get('secretAccessKey'),
        sessionToken: get('sessionToken'),
        service: get('service'),
        region: get('region'),
      });
    case 'oauth2': {
      const grant = get('grantType') ?? '';
      if (!['authorization_code', 'client_credentials'].includes(grant))
        findings.warn(
          place,
          grant,
          `The OAuth 2.0 grant '${grant}' is not supported: select another one in the Auth tab`,
        );
      warnOfUnread(own, OAUTH_READ, place, findings);
      return authOf(mode, {
        grant_type:
          grant === 'authorization_code' && member(own, 'pkce') === true ? 'authorization_code_with_pkce' : grant,
        authorizationUrl: get('authorizationUrl'),
        url: get('accessTokenUrl'),
        client_id: get('clientId'),
        client_secret: get('clientSecret'),
        scope: get('scope'),
        ...((get('refreshTokenUrl') ?? '') === '' ? {} : { refreshTokenUrl: get('refreshTokenUrl') }),
        ...(get('credentialsPlacement') === 'body' ? { client_authentication: 'body' } : {}),
        ...(get('tokenPlacement') === 'url' ? { addTokenTo: 'queryParams' } : {}),
        ...((get('tokenHeaderPrefix') ?? '') === '' ? {} : { headerPrefix: get('tokenHeaderPrefix') }),
      });
    }
    default:
      findings.warn(place, mode, `The authorization '${mode}' is not supported and is not imported`);
      return null;
  }
}
