import { addressOf } from './address.js';
import { authEntries, pathsUp } from './auth.js';
import { redirectLimit } from './behaviour.js';
import type { Collection, CollectionPath } from './collection.js';
import { asObject, enabledPairs, member, textOf } from './json-access.js';

/** Something in a collection that its author set and that is not sent as it says. */
export interface MemberNote {
  /** The name of the member, with what it is in: `protocolProfileBehavior.tlsCipherSelection`. */
  readonly about: string;
  readonly message: string;
}

/**
 * What becomes of a member: it is used; it is kept, since it says nothing about what is sent; or it is looked into. A function
 * returns why a value is not used, or null.
 */
type Fate = 'used' | 'kept' | ((value: unknown) => string | null) | { readonly members: Members };
type Members = Readonly<Record<string, Fate>>;

const notUsed =
  (why: string): Fate =>
  () =>
    `is not used: ${why}`;
const oneOf =
  (...values: readonly string[]): Fate =>
  (value) =>
    values.includes(String(value))
      ? null
      : `is ${JSON.stringify(value)}, which is not understood; it takes ${values.join(', ')}`;

const ABOUT: Members = {
  id: 'kept',
  uid: 'kept',
  uuid: 'kept',
  name: 'kept',
  description: 'kept',
  type: 'kept',
  owner: 'kept',
  createdAt: 'kept',
  updatedAt: 'kept',
  lastUpdatedBy: 'kept',
};

const BEHAVIOUR: Members = {
  followRedirects: 'used',
  maxRedirects: (value) =>
    redirectLimit(value) === null ? `is ${JSON.stringify(value)}, which is not a number of redirects` : null,
  followOriginalHttpMethod: 'used',
  followAuthorizationHeader: 'used',
  removeRefererHeaderOnRedirect: 'used',
  strictSSL: 'used',
  disableUrlEncoding: 'used',
  disableBodyPruning: 'used',
  disableCookies: 'used',
  disabledSystemHeaders: 'used',
  protocolVersion: oneOf('http1', 'http2', 'auto'),
  // Answers are always read leniently.
  insecureHTTPParser: 'used',
  tlsPreferServerCiphers: notUsed('the server decides about the cipher'),
  tlsDisabledProtocols: notUsed('TLS 1.2 and 1.3 are offered'),
  tlsCipherSelection: notUsed("Node's ciphers are offered"),
};

const PAIR: Members = {
  ...ABOUT,
  key: 'used',
  value: 'used',
  disabled: 'used',
  enabled: 'used',
  system: 'kept',
  warning: 'kept',
};

const SCRIPT: Members = {
  ...ABOUT,
  exec: 'used',
  src: notUsed('put the script itself into exec'),
  packages: notUsed("packages of Postman's library are not loaded"),
  requests: notUsed("requests of Postman's workspace are not loaded"),
};

const EVENT: Members = { ...ABOUT, listen: oneOf('prerequest', 'test'), disabled: 'used', script: { members: SCRIPT } };

const OWN_ROUTE = 'set the proxy and certificates in Settings, or with --proxy and --cert';

const URL_MEMBERS: Members = {
  raw: 'used',
  protocol: 'used',
  auth: 'used',
  host: 'used',
  port: 'used',
  path: 'used',
  query: { members: PAIR },
  hash: 'used',
  variable: { members: PAIR },
};

const BODY: Members = {
  mode: oneOf('raw', 'urlencoded', 'formdata', 'file', 'graphql', 'none'),
  disabled: 'used',
  raw: 'used',
  base64: 'used',
  urlencoded: { members: { ...PAIR, contentType: 'kept' } },
  formdata: { members: { ...PAIR, src: 'used', contentType: 'used', fileName: 'used' } },
  file: { members: { src: 'used', content: 'used', withoutNewlines: 'used' } },
  graphql: { members: { query: 'used', variables: 'used', operationName: 'used' } },
  options: {
    members: {
      raw: { members: { language: 'used', headerFamily: 'kept' } },
      urlencoded: 'kept',
      formdata: 'kept',
      graphql: 'kept',
      file: 'kept',
    },
  },
};

const sentAs =
  (...places: readonly string[]): Fate =>
  (value) => {
    const other = enabledPairs(value).find(
      ({ entry }) => !places.includes(textOf(member(entry, 'send_as')) ?? places[0] ?? ''),
    );
    if (other === undefined) return null;
    const place = JSON.stringify(member(other.entry, 'send_as'));
    return `has ${other.key} with send_as ${place}, which is not sent; it takes ${places.join(', ')}`;
  };

const OF_THE_LOGIN = 'each login has one of its own';

const OAUTH2: Members = {
  ...ABOUT,
  grant_type: 'used',
  authUrl: 'used',
  authorizationUrl: 'used',
  accessTokenUrl: 'used',
  url: 'used',
  refreshTokenUrl: 'used',
  clientId: 'used',
  client_id: 'used',
  clientSecret: 'used',
  client_secret: 'used',
  scope: 'used',
  audience: 'used',
  client_authentication: oneOf('header', 'body'),
  clientAuth: oneOf('header', 'body'),
  addTokenTo: oneOf('header', 'queryParams'),
  headerPrefix: 'used',
  accessToken: 'used',
  authRequestParams: sentAs('request_url'),
  tokenRequestParams: sentAs('request_body', 'request_url', 'request_header'),
  refreshRequestParams: sentAs('request_body', 'request_url', 'request_header'),
  challengeAlgorithm: (value) => (value === 'S256' ? null : 'is not used: the challenge of PKCE is always S256'),
  code_verifier: notUsed(OF_THE_LOGIN),
  state: notUsed(OF_THE_LOGIN),
  redirect_uri: notUsed(
    'the provider redirects to http://127.0.0.1:8080/callback, or 8888, 9090, 3000; register these there',
  ),
  tokenType: (value) =>
    /^(?:bearer|access_token)$/i.test(String(value)) ? null : 'is not used: the access token is sent',
  refreshToken: notUsed('a token is requested when there is none'),
  useBrowser: 'kept',
  tokenName: 'kept',
  // Of a grant that is refused by name.
  username: 'kept',
  password: 'kept',
  showPassword: 'kept',
};

const FROM_THE_SERVER = 'the server gives it when it asks for the login';
const COMPUTED = 'it is computed for each request';
const LOGIN: Members = { ...ABOUT, username: 'used', password: 'used', showPassword: 'kept', saveHelperData: 'kept' };

const AUTH: Readonly<Record<string, Members>> = {
  noauth: {},
  basic: LOGIN,
  bearer: { ...ABOUT, token: 'used' },
  apikey: { ...ABOUT, key: 'used', value: 'used', in: oneOf('header', 'query') },
  digest: {
    ...LOGIN,
    algorithm: 'kept',
    qop: 'kept',
    realm: notUsed(FROM_THE_SERVER),
    nonce: notUsed(FROM_THE_SERVER),
    opaque: notUsed(FROM_THE_SERVER),
    nonceCount: notUsed(COMPUTED),
    clientNonce: notUsed(COMPUTED),
    disableRetryRequest: notUsed('the request is repeated with the login'),
  },
  ntlm: {
    ...LOGIN,
    domain: 'used',
    workstation: 'used',
    disableRetryRequest: notUsed('the request is repeated with the login'),
  },
  oauth2: OAUTH2,
  oauth1: {
    ...ABOUT,
    consumerKey: 'used',
    consumerSecret: 'used',
    token: 'used',
    tokenSecret: 'used',
    signatureMethod: 'used',
    privateKey: 'used',
    version: 'used',
    realm: 'used',
    callback: 'used',
    verifier: 'used',
    includeBodyHash: 'used',
    addParamsToHeader: 'used',
    timestamp: notUsed(COMPUTED),
    nonce: notUsed(COMPUTED),
    addEmptyParamsToSign: notUsed('empty parameters are signed if they are sent'),
    disableHeaderEncoding: notUsed('the header is always encoded'),
    autoAddParam: 'kept',
  },
  awsv4: {
    ...ABOUT,
    accessKey: 'used',
    secretKey: 'used',
    sessionToken: 'used',
    region: 'used',
    service: 'used',
    addAuthDataToQuery: 'used',
    saveHelperData: 'kept',
    auth: 'kept',
  },
  hawk: {
    ...ABOUT,
    authId: 'used',
    authKey: 'used',
    algorithm: 'used',
    nonce: 'used',
    timestamp: 'used',
    extraData: 'used',
    app: 'used',
    delegation: 'used',
    includePayloadHash: 'used',
    user: notUsed('Hawk has no user name; its ID is sent'),
    saveHelperData: 'kept',
  },
  jwt: {
    ...ABOUT,
    algorithm: 'used',
    secret: 'used',
    isSecretBase64Encoded: 'used',
    privateKey: 'used',
    payload: 'used',
    header: 'used',
    headerPrefix: 'used',
    addTokenTo: oneOf('header', 'queryParam'),
    queryParamKey: 'used',
  },
};

const REQUEST: Members = {
  ...ABOUT,
  method: 'used',
  url: { members: URL_MEMBERS },
  header: { members: PAIR },
  body: { members: BODY },
  auth: 'used',
  proxy: (value) => (member(value, 'disabled') === true ? null : `is not used: ${OWN_ROUTE}`),
  certificate: notUsed(OWN_ROUTE),
};

const COMMON: Members = {
  ...ABOUT,
  auth: 'used',
  event: { members: EVENT },
  protocolProfileBehavior: { members: BEHAVIOUR },
};

const VARIABLE: Members = { ...PAIR, type: 'used' };
const ITEM: Members = {
  ...COMMON,
  request: { members: REQUEST },
  response: 'kept',
  variable: { members: VARIABLE },
};
const FOLDER: Members = { ...COMMON, item: 'used', order: 'kept', variable: { members: VARIABLE } };
const COLLECTION: Members = { ...FOLDER, info: 'kept' };

/** All settings that have a row in the table of docs/request-client.md, by what they are in. */
export const SETTINGS: Readonly<Record<string, Members>> = {
  protocolProfileBehavior: BEHAVIOUR,
  request: REQUEST,
  url: URL_MEMBERS,
  body: BODY,
  event: EVENT,
  script: SCRIPT,
  ...AUTH,
};

/** The notes about one item, folder or (with the empty path) collection, without those about what is in it. */
export function memberNotes(collection: Collection, path: CollectionPath): MemberNote[] {
  const value = collection.at(path);
  const isRequest = path.length > 0 && !Array.isArray(member(value, 'item'));
  const notes = notesIn(value, path.length === 0 ? COLLECTION : isRequest ? ITEM : FOLDER, '');
  const request = isRequest ? member(value, 'request') : undefined;
  return [
    ...notes,
    ...authNotes(member(isRequest ? request : value, 'auth')),
    ...(isRequest ? addressNotes(typeof request === 'string' ? request : member(request, 'url')) : []),
  ];
}

/** The notes about a request, its folders and its collection. */
export function notesOnTheWay(collection: Collection, path: CollectionPath): MemberNote[] {
  return pathsUp(path)
    .reverse()
    .flatMap((place) => memberNotes(collection, place));
}

function notesIn(value: unknown, members: Members, within: string): MemberNote[] {
  if (Array.isArray(value)) return value.flatMap((entry) => notesIn(entry, members, within));
  return Object.entries(asObject(value) ?? {}).flatMap(([name, own]) => noteOn(name, own, members, within));
}

function noteOn(name: string, value: unknown, members: Members, within: string): MemberNote[] {
  // Names of programs for themselves, and of extensions.
  if (isUnset(value) || /^(?:_|x-)/i.test(name)) return [];
  const about = within === '' ? name : `${within}.${name}`;
  const fate = Object.hasOwn(members, name) ? members[name] : undefined;
  if (fate === undefined) return [{ about, message: `${about} is not understood and has no effect` }];
  if (typeof fate === 'object') return notesIn(value, fate.members, about);
  const why = typeof fate === 'function' ? fate(value) : null;
  return why === null ? [] : [{ about, message: `${about} ${why}` }];
}

function authNotes(auth: unknown): MemberNote[] {
  const type = textOf(member(auth, 'type'));
  const members = type === undefined || !Object.hasOwn(AUTH, type) ? undefined : AUTH[type];
  // Another kind is refused by name when the request is sent.
  if (type === undefined || members === undefined) return [];
  return authEntries(member(auth, type)).flatMap(([name, value]) => noteOn(name, value, members, type));
}

function addressNotes(url: unknown): MemberNote[] {
  const { otherwise, unfilled } = addressOf(url);
  return [
    ...(otherwise === null
      ? []
      : [{ about: 'url.raw', message: `url.raw is another address than its parts, which are used: ${otherwise}` }]),
    ...unfilled.map((name) => ({
      about: 'url.variable',
      message: `The path variable :${name} has no value and is sent as it is written`,
    })),
  ];
}

/** What is not set needs no note: Postman writes all members of some objects. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return asObject(value) !== undefined && Object.keys(value).length === 0;
}
