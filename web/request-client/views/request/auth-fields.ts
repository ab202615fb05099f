import { GRANT_TYPES } from '../../../../src/protocol/requests/request-window.js';

/** A setting of an authorization, under the name that it has in the file, and how it is typed. */
export interface AuthField {
  readonly key: string;
  readonly label: string;
  readonly secret?: true;
  /** What is used if nothing is typed. */
  readonly optional?: string;
  /** The first one is used if none is stored. */
  readonly choices?: { readonly [value: string]: string };
  /** Text of several lines. */
  readonly long?: true;
}

const USER: readonly AuthField[] = [
  { key: 'username', label: 'User name' },
  { key: 'password', label: 'Password', secret: true },
];

const named = (...values: readonly string[]): { readonly [value: string]: string } =>
  Object.fromEntries(values.map((value) => [value, value]));

const FIELDS: { readonly [type: string]: readonly AuthField[] } = {
  basic: USER,
  digest: USER,
  bearer: [{ key: 'token', label: 'Token', secret: true }],
  apikey: [
    { key: 'key', label: 'Name' },
    { key: 'value', label: 'Value', secret: true },
    { key: 'in', label: 'Send in', choices: { header: 'a header', query: 'the query' } },
  ],
  awsv4: [
    { key: 'accessKey', label: 'Access key' },
    { key: 'secretKey', label: 'Secret key', secret: true },
    { key: 'region', label: 'Region', optional: 'us-east-1' },
    { key: 'service', label: 'Service', optional: 'execute-api' },
    { key: 'sessionToken', label: 'Session token', secret: true, optional: 'of temporary keys' },
    { key: 'addAuthDataToQuery', label: 'Send in', choices: { '': 'headers', true: 'the query' } },
  ],
  hawk: [
    { key: 'authId', label: 'Hawk ID' },
    { key: 'authKey', label: 'Hawk key', secret: true },
    { key: 'algorithm', label: 'Algorithm', choices: named('sha256', 'sha1') },
    { key: 'extraData', label: 'Extra data (ext)', optional: 'optional' },
    { key: 'app', label: 'App ID', optional: 'optional' },
    { key: 'delegation', label: 'Delegation (dlg)', optional: 'optional' },
    { key: 'includePayloadHash', label: 'Hash of the body', choices: { '': 'no', true: 'yes' } },
  ],
  jwt: [
    {
      key: 'algorithm',
      label: 'Algorithm',
      choices: named(
        'HS256',
        'HS384',
        'HS512',
        'RS256',
        'RS384',
        'RS512',
        'PS256',
        'PS384',
        'PS512',
        'ES256',
        'ES384',
        'ES512',
      ),
    },
    { key: 'secret', label: 'Secret (HS)', secret: true },
    { key: 'isSecretBase64Encoded', label: 'Secret is', choices: { '': 'text', true: 'Base64' } },
    { key: 'privateKey', label: 'Private key (PEM)', secret: true, long: true, optional: 'for RS, PS and ES' },
    { key: 'payload', label: 'Payload (JSON)', long: true, optional: '{}' },
    { key: 'header', label: 'More headers (JSON)', long: true, optional: '{}' },
    { key: 'addTokenTo', label: 'Send in', choices: { '': 'the header', queryParam: 'the query' } },
    { key: 'headerPrefix', label: 'Header prefix', optional: 'Bearer' },
    { key: 'queryParamKey', label: 'Query parameter', optional: 'token' },
  ],
  ntlm: [
    ...USER,
    { key: 'domain', label: 'Domain', optional: 'optional' },
    { key: 'workstation', label: 'Workstation', optional: 'optional' },
  ],
  oauth1: [
    {
      key: 'signatureMethod',
      label: 'Signature method',
      choices: named('HMAC-SHA1', 'HMAC-SHA256', 'HMAC-SHA512', 'RSA-SHA1', 'RSA-SHA256', 'RSA-SHA512', 'PLAINTEXT'),
    },
    { key: 'consumerKey', label: 'Consumer key' },
    { key: 'consumerSecret', label: 'Consumer secret', secret: true },
    { key: 'token', label: 'Access token', secret: true, optional: 'optional' },
    { key: 'tokenSecret', label: 'Token secret', secret: true, optional: 'optional' },
    { key: 'privateKey', label: 'Private key (PEM)', secret: true, long: true, optional: 'for RSA' },
    { key: 'realm', label: 'Realm', optional: 'optional' },
    { key: 'addParamsToHeader', label: 'Send in', choices: { '': 'the header', false: 'the query or form' } },
    { key: 'includeBodyHash', label: 'Hash of the body', choices: { '': 'no', true: 'yes' } },
  ],
};

/** The settings of a kind of authorization, in the order in which they are shown; none for a kind that has none. */
export function fieldsOf(type: string, settings: { readonly [key: string]: string | undefined }): readonly AuthField[] {
  return type === 'oauth2' ? oauth2Fields(settings.grant_type !== 'client_credentials') : (FIELDS[type] ?? []);
}

/** @param byUser whether a person logs in */
function oauth2Fields(byUser: boolean): readonly AuthField[] {
  const login: readonly AuthField[] = byUser ? [{ key: 'authorizationUrl', label: 'Authorization URL' }] : [];
  return [
    { key: 'grant_type', label: 'Grant Type', choices: { '': 'select one', ...GRANT_TYPES } },
    ...login,
    { key: 'url', label: 'Access Token URL' },
    { key: 'client_id', label: 'Client ID' },
    { key: 'client_secret', label: 'Client Secret', secret: true, ...(byUser ? { optional: 'optional' } : {}) },
    { key: 'scope', label: 'Scope', optional: 'separated by spaces' },
    { key: 'client_authentication', label: 'Send secret in', choices: { '': 'the header', body: 'the body' } },
  ];
}
