import { createHash, createHmac, createPrivateKey, sign as signWith } from 'node:crypto';
import hawk from '@hapi/hawk';
import aws4 from 'aws4';
import { importPKCS8, SignJWT } from 'jose';
import OAuth from 'oauth-1.0a';
import { assertNever } from '#troupe/base/assert-never.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { SignedAuth } from '../collection/auth.js';
import { withHeader, withQueryPair } from '../collection/authorize.js';
import type { RequestDraft } from '../request.js';
import { requestTarget } from './request-target.js';

type Settings = (name: string) => string;

/**
 * Adds the authorization that is computed from a request: AWS Signature 4, Hawk, a JWT, or OAuth 1.0.
 *
 * @param text replaces variables
 * @throws REQUEST_FAILED if the settings cannot be used
 */
export async function signed(
  request: RequestDraft,
  type: SignedAuth,
  stored: ReadonlyMap<string, string>,
  text: (value: string) => string,
): Promise<RequestDraft> {
  const setting: Settings = (name) => text(stored.get(name) ?? '');
  try {
    switch (type) {
      case 'awsv4':
        return withAws(request, setting);
      case 'hawk':
        return withHawk(request, setting);
      case 'jwt':
        return await withJwt(request, setting);
      case 'oauth1':
        return withOAuth1(request, setting);
      default:
        return assertNever(type);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TroupeError(
      'REQUEST_FAILED',
      `The request could not be signed (${type}): ${why}; check its Auth settings`,
      {
        cause: 'SIGNATURE',
      },
    );
  }
}

/** The bytes of a body that is known before the request is sent; null for files and forms. */
function payloadOf({ body }: RequestDraft): Buffer | null {
  if (body.kind === 'none') return Buffer.alloc(0);
  if (body.kind === 'text') return Buffer.from(body.text);
  return body.kind === 'bytes' ? Buffer.from(body.base64, 'base64') : null;
}

function typeOf({ headers }: RequestDraft): string {
  return headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
}

function withAws(request: RequestDraft, setting: Settings): RequestDraft {
  const { host, path } = requestTarget(request.url, request.settings.encodeUrl);
  const payload = payloadOf(request);
  const type = typeOf(request);
  const query = setting('addAuthDataToQuery') === 'true';
  const made = aws4.sign(
    {
      host,
      path,
      method: request.method.toUpperCase(),
      service: setting('service') || 'execute-api',
      region: setting('region') || 'us-east-1',
      signQuery: query,
      headers: {
        ...(type === '' ? {} : { 'Content-Type': type }),
        ...(payload === null ? { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' } : {}),
      },
      ...(payload === null ? {} : { body: payload }),
    },
    {
      accessKeyId: setting('accessKey'),
      secretAccessKey: setting('secretKey'),
      ...(setting('sessionToken') === '' ? {} : { sessionToken: setting('sessionToken') }),
    },
  );
  if (query) {
    const { secure } = requestTarget(request.url, request.settings.encodeUrl);
    return { ...request, url: `${secure ? 'https' : 'http'}://${host}${made.path ?? path}` };
  }
  const added = Object.entries(made.headers ?? {}).filter(([name]) => /^(?:authorization|x-amz-)/i.test(name));
  return added.reduce((all, [name, value]) => withHeader(all, name, String(value)), request);
}

function withHawk(request: RequestDraft, setting: Settings): RequestDraft {
  const { secure, host, path } = requestTarget(request.url, request.settings.encodeUrl);
  const payload = setting('includePayloadHash') === 'true' ? payloadOf(request) : null;
  const optional = (name: string, value: string): object => (value === '' ? {} : { [name]: value });
  const { header } = hawk.client.header(`${secure ? 'https' : 'http'}://${host}${path}`, request.method.toUpperCase(), {
    credentials: { id: setting('authId'), key: setting('authKey'), algorithm: setting('algorithm') || 'sha256' },
    ...optional('ext', setting('extraData')),
    ...optional('app', setting('app')),
    ...optional('dlg', setting('delegation')),
    ...optional('nonce', setting('nonce')),
    ...optional('timestamp', setting('timestamp')),
    ...(payload === null ? {} : { payload, contentType: typeOf(request) }),
  });
  return withHeader(request, 'Authorization', header);
}

async function withJwt(request: RequestDraft, setting: Settings): Promise<RequestDraft> {
  const alg = setting('algorithm') || 'HS256';
  const secret = Buffer.from(setting('secret'), setting('isSecretBase64Encoded') === 'true' ? 'base64' : 'utf8');
  const key = alg.startsWith('HS') ? secret : await importPKCS8(pkcs8(setting('privateKey')), alg);
  const token = await new SignJWT(objectIn(setting('payload')))
    .setProtectedHeader({ typ: 'JWT', ...objectIn(setting('header')), alg })
    .sign(key);
  if (setting('addTokenTo') === 'queryParam') return withQueryPair(request, setting('queryParamKey') || 'token', token);
  return withHeader(request, 'Authorization', `${setting('headerPrefix') || 'Bearer'} ${token}`.trim());
}

/** Keys in any of the usual PEM forms. */
function pkcs8(pem: string): string {
  return createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function objectIn(json: string): Record<string, unknown> {
  const value: unknown = json.trim() === '' ? {} : JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object');
  return { ...value };
}

function withOAuth1(request: RequestDraft, setting: Settings): RequestDraft {
  const method = setting('signatureMethod') || 'HMAC-SHA1';
  const tokenSecret = setting('tokenSecret');
  const oauth = new OAuth({
    consumer: { key: setting('consumerKey'), secret: setting('consumerSecret') },
    signature_method: method,
    version: setting('version') || '1.0',
    ...(setting('realm') === '' ? {} : { realm: setting('realm') }),
    hash_function: (base, key) => signature(method, base, key, setting('privateKey')),
  });
  const { secure, host, path } = requestTarget(request.url, request.settings.encodeUrl);
  const url = `${secure ? 'https' : 'http'}://${host}${path}`;
  const isForm = typeOf(request).toLowerCase().startsWith('application/x-www-form-urlencoded');
  const payload = payloadOf(request);
  const data = isForm && payload !== null ? Object.fromEntries(new URLSearchParams(payload.toString('utf8'))) : {};
  const hashed = setting('includeBodyHash') === 'true' && !isForm && payload !== null;
  const extra = {
    ...(setting('callback') === '' ? {} : { oauth_callback: setting('callback') }),
    ...(setting('verifier') === '' ? {} : { oauth_verifier: setting('verifier') }),
    ...(hashed ? { oauth_body_hash: createHash('sha1').update(payload).digest('base64') } : {}),
  };
  const token = setting('token') === '' ? undefined : { key: setting('token'), secret: tokenSecret };
  const made = oauth.authorize({ url, method: request.method.toUpperCase(), data: { ...data, ...extra } }, token);
  if (setting('addParamsToHeader') === 'false') {
    return Object.entries(made)
      .filter(([name]) => name.startsWith('oauth_'))
      .reduce((all, [name, value]) => withQueryPair(all, name, String(value)), request);
  }
  return withHeader(request, 'Authorization', oauth.toHeader(made).Authorization);
}

function signature(method: string, base: string, key: string, privateKey: string): string {
  const [, kind = '', hash = 'SHA1'] = /^(HMAC|RSA|PLAINTEXT)-?(SHA\d+)?$/.exec(method) ?? [];
  if (kind === 'PLAINTEXT') return key;
  if (kind === 'HMAC') return createHmac(hash.toLowerCase(), key).update(base).digest('base64');
  if (kind === 'RSA') return signWith(`RSA-${hash}`, Buffer.from(base), privateKey).toString('base64');
  throw new Error(`the signature method ${method} is not supported`);
}
