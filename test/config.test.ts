import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseModels } from '#troupe/config/models.js';
import { readConfig } from '#troupe/config.js';
import { guardLeaks } from './support/leaks.js';

guardLeaks(t);

t.test('without a file the defaults of the documentation hold', async (t) => {
  const home = t.testdir({});
  const config = readConfig({}, { TROUPE_HOME: home });
  t.match(config, {
    port: 4444,
    host: '127.0.0.1',
    driver: 'auto',
    maxSessions: 10,
    idleTimeout: 300,
    evalTimeout: 60,
  });
  t.equal(config.flowsDir, join(home, 'flows'));
  t.ok(Object.isFrozen(config));
});

t.test('Values of `screenshots` that earlier versions had are read', async (t) => {
  const read = (value: string) =>
    readConfig({}, { TROUPE_HOME: t.testdir({ 'troupe.json': JSON.stringify({ screenshots: value }) }) }).screenshots;
  for (const value of ['on', 'failures', 'off', 'quick', 'exact']) t.equal(read(value), value);
  t.throws(() => read('all'), { code: 'INVALID_REQUEST', message: /screenshots/ });
});

t.test('flags win over the file', async (t) => {
  const home = t.testdir({ 'troupe.json': JSON.stringify({ port: 5000, maxSessions: 3 }) });
  t.match(readConfig({ port: '0' }, { TROUPE_HOME: home }), { port: 0, maxSessions: 3 });
});

t.test('the user who called sudo is the one that browsers run as', async (t) => {
  const TROUPE_HOME = t.testdir({});
  t.same(readConfig({}, { TROUPE_HOME, SUDO_UID: '1001', SUDO_GID: '100' }).sudoUser, { uid: 1001, gid: 100 });
  t.equal(readConfig({}, { TROUPE_HOME, SUDO_UID: 'me', SUDO_GID: '100' }).sudoUser, undefined);
});

t.test("Chromium's sandbox is on unless the environment or the file says otherwise", async (t) => {
  const written = t.testdir({ 'troupe.json': '{"chromiumSandbox": false}' });
  const sandbox = (TROUPE_HOME: string, said?: string) =>
    readConfig({}, { TROUPE_HOME, TROUPE_CHROMIUM_SANDBOX: said }).chromiumSandbox;
  t.equal(sandbox('/nonexistent'), true);
  t.equal(sandbox('/nonexistent', 'false'), false);
  t.equal(sandbox(written), false);
  t.equal(sandbox(written, ''), false);
  t.equal(sandbox(written, 'true'), true);
  t.throws(() => sandbox(written, 'off'), {
    code: 'INVALID_REQUEST',
    message: 'TROUPE_CHROMIUM_SANDBOX is "off"; it can be true or false',
  });
});

t.test('Request.run has no proxy unless the home names one, or the environment’s', async (t) => {
  const env = { HTTPS_PROXY: 'http://env.test:1', no_proxy: 'a.test,.b.test', LOGIN: 'ada:a:b/c', PASS: 'sesame' };
  const read = (requests: object) => {
    const home = t.testdir({ 'troupe.json': JSON.stringify({ requests }) });
    return { home, ...readConfig({}, { ...env, TROUPE_HOME: home }).requests };
  };
  t.match(read({}), { proxy: { http: '', https: '', bypass: [] }, ca: [], certificates: [] });
  t.match(read({ proxy: 'environment', noProxy: ['c.test'] }), {
    proxy: { http: '', https: 'http://env.test:1', bypass: ['a.test', '.b.test', 'c.test'] },
  });
  const proxy = { proxy: 'http://proxy.test:3128', proxyLogin: 'LOGIN' };
  t.equal(read(proxy).proxy.https, 'http://ada:a%3Ab%2Fc@proxy.test:3128');
  const certificates = [{ host: 'api.test:8443', pfx: 'client.pfx', passphrase: 'PASS' }];
  const { home, ...rest } = read({ certificates, ca: ['ca.pem', '/etc/ca.pem'] });
  t.match(rest, {
    ca: [join(home, 'ca.pem'), '/etc/ca.pem'],
    certificates: [{ host: 'api.test:8443', cert: '', key: '', pfx: join(home, 'client.pfx'), passphrase: 'sesame' }],
  });
});

const WRONG: readonly (readonly [name: string, file: string, says: RegExp])[] = [
  ['an unknown key is refused by name', '{"maxSession": 3}', /unknown key 'maxSession'/],
  ['a login in the proxy of requests is refused', '{"requests": {"proxy": "http://a:b@h:1"}}', /proxyLogin/],
  [
    'a certificate without a key is refused',
    '{"requests": {"certificates": [{"host": "h", "cert": "c"}]}}',
    /cert and key, or pfx/,
  ],
  [
    'a certificate for no host is refused',
    '{"requests": {"certificates": [{"host": "h/x", "pfx": "c"}]}}',
    /host name/,
  ],
  [
    'a login that is not set is refused',
    '{"requests": {"proxy": "http://h:1", "proxyLogin": "NOT_SET"}}',
    /NOT_SET, which/,
  ],
  ['an unknown key of webhooks is refused by name', '{"webhooks": {"allowed": []}}', /unknown key 'allowed'/],
  ['a webhook target that can never match is refused', '{"webhooks": {"allow": ["http://a"]}}', /webhooks\.allow/],
  ['an address that is none is refused in a list', '{"egress": {"deny": ["1.2.3.256"]}}', /egress\.deny/],
  ['a wrong type is refused with the key', '{"port": "80"}', /port: /],
  ['broken JSON is refused with the file', '{"port": 80', /troupe\.json is not valid/],
  ['a list is refused', '[]', /one JSON object/],
  ['a secret in the place of its variable is refused', '{"token": "s3cret-value"}', /environment variable/],
  ['a token variable that is not set is refused by name', '{"token": "MY_TOKEN"}', /MY_TOKEN, which is not set/],
  ['a model without a provider is refused', '{"models": ["gpt-5"]}', /'gpt-5' must have the form <provider>\/<name>/],
  ['a provider that nobody knows is refused by name', '{"models": ["acme/m"]}', /unknown provider 'acme'/],
  [
    'artifacts of both kinds are refused',
    '{"artifacts": {"folder": "/a", "s3": {"bucket": "abc"}}}',
    /artifacts: is \{/,
  ],
  [
    'a bucket that cannot exist is refused',
    '{"artifacts": {"s3": {"bucket": "a..b"}}}',
    /bucket: is a name of 3 to 63/,
  ],
  [
    'an endpoint with a path is refused',
    '{"artifacts": {"s3": {"bucket": "abc", "endpoint": "https://s3.test/x"}}}',
    /endpoint: is an address such as https:\/\/s3.example.com, without a path/,
  ],
  [
    'a prefix that leads elsewhere is refused',
    '{"artifacts": {"s3": {"bucket": "abc", "prefix": "a/../b"}}}',
    /prefix: is/,
  ],
  [
    'a bucket without its keys is refused by their names',
    '{"artifacts": {"s3": {"bucket": "abc"}}}',
    /variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/,
  ],
  ['an open host without a token is refused', '{"host": "0.0.0.0"}', /reached from other machines/],
];
for (const [name, file, says] of WRONG) {
  t.test(name, async (t) => {
    const home = t.testdir({});
    writeFileSync(join(home, 'troupe.json'), file);
    t.throws(() => readConfig({}, { TROUPE_HOME: home }), { code: 'INVALID_REQUEST', message: says });
  });
}

t.test('artifacts are kept in the home, or where the file and the variables of AWS say', async (t) => {
  const read = (artifacts: object, env: object = {}) => {
    const home = t.testdir({ 'troupe.json': JSON.stringify({ artifacts }) });
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    return { home, artifacts: readConfig({}, { TROUPE_HOME: home, ...keys, ...env }).artifacts };
  };
  t.equal(read({ folder: '.' }).artifacts, undefined);
  const { home, artifacts } = read({ folder: 'kept' });
  t.same(artifacts, { kind: 'folder', folder: join(home, 'kept') });
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const bucket = { kind: 's3', bucket: 'abc', endpoint: undefined, region: 'us-east-1', prefix: '', keys };
  t.same(read({ s3: { bucket: 'abc' } }).artifacts, bucket);
  const env = { AWS_ENDPOINT_URL: 'https://s3.test', AWS_REGION: 'eu-west-1', AWS_SESSION_TOKEN: 'token' };
  t.same(read({ s3: { bucket: 'abc', prefix: 'ci' } }, env).artifacts, {
    ...bucket,
    endpoint: 'https://s3.test',
    region: 'eu-west-1',
    prefix: 'ci/',
    keys: { ...keys, sessionToken: 'token' },
  });
  const wrong = { AWS_ENDPOINT_URL_S3: 's3.test' };
  t.throws(() => read({ s3: { bucket: 'abc' } }, wrong), {
    message: /AWS_ENDPOINT_URL_S3 must hold an address such as/,
  });
  const temporary = { AWS_ACCESS_KEY_ID: 'ASIA1' };
  t.throws(() => read({ s3: { bucket: 'abc' } }, temporary), {
    message: /set the environment variable AWS_SESSION_TOKEN/,
  });
});

t.test('a flag that is not a number is refused by name', async (t) => {
  t.throws(() => readConfig({ port: 'many' }, { TROUPE_HOME: t.testdir({}) }), {
    message: /--port takes a whole number/,
  });
});

t.test('a token that no client could send is refused', async (t) => {
  const home = t.testdir({ 'troupe.json': JSON.stringify({ token: 'MY_TOKEN' }) });
  t.throws(() => readConfig({}, { TROUPE_HOME: home, MY_TOKEN: 'two words' }), {
    code: 'INVALID_REQUEST',
    message: 'The variable MY_TOKEN, which "token" names, must not contain spaces',
  });
});

t.test('a secret can be in a file, and a node in the environment', async (t) => {
  const home = t.testdir({
    'troupe.json': JSON.stringify({ token: 'MY_TOKEN', database: 'MY_DATABASE', clusterKey: 'MY_KEY' }),
    token: 'abc\n',
  });
  const key = 'k'.repeat(32);
  const env = { TROUPE_HOME: home, MY_TOKEN_FILE: `${home}/token`, MY_DATABASE: 'postgres://db/troupe', MY_KEY: key };
  t.match(readConfig({}, env), { token: 'abc', node: undefined });
  const node = { TROUPE_NODE_ID: 'a', TROUPE_NODE_URL: 'http://10.0.0.7:4444/' };
  t.match(readConfig({}, { ...env, ...node }), { node: { id: 'a', url: 'http://10.0.0.7:4444', leaseFactor: 1 } });
  t.throws(() => readConfig({}, { ...env, TROUPE_NODE_ID: 'a' }), { message: /node\.url/ });
  t.throws(() => readConfig({}, { ...env, ...node, MY_TOKEN: 'abc' }), {
    message: /Both MY_TOKEN and MY_TOKEN_FILE are set/,
  });
  t.throws(() => readConfig({}, { ...env, MY_TOKEN_FILE: `${home}/none` }), {
    message: /MY_TOKEN_FILE names .*none, which cannot/,
  });
});

t.test('an open host with its token is taken', async (t) => {
  const home = t.testdir({ 'troupe.json': JSON.stringify({ host: '0.0.0.0', token: 'MY_TOKEN' }) });
  t.match(readConfig({}, { TROUPE_HOME: home, MY_TOKEN: 'abc' }), { host: '0.0.0.0', token: 'abc' });
});

t.test('models are resolved with address and key, by prefix or by their own provider', async (t) => {
  const file = {
    models: ['openai/gpt-5', 'openrouter/meta/llama-4', 'ollama/qwen3', 'house/m', 'open-lab/m'],
    providers: {
      house: { baseURL: 'http://127.0.0.1:9000/v1', apiKeyEnv: 'HOUSE_KEY' },
      'open-lab': { baseURL: 'http://127.0.0.1:9001/v1' },
    },
  };
  const home = t.testdir({ 'troupe.json': JSON.stringify(file) });
  const { models } = readConfig(
    {},
    { TROUPE_HOME: home, OPENAI_API_KEY: 'k1', HOUSE_KEY: 'k2', OPENROUTER_API_KEY: '' },
  );
  t.match(models, [
    { id: 'openai/gpt-5', name: 'gpt-5', baseURL: 'https://api.openai.com/v1', apiKey: 'k1' },
    { name: 'meta/llama-4', apiKeyEnv: 'OPENROUTER_API_KEY', apiKey: null },
    { name: 'qwen3', apiKeyEnv: null, apiKey: null },
    { baseURL: 'http://127.0.0.1:9000/v1', apiKey: 'k2' },
    { baseURL: 'http://127.0.0.1:9001/v1', apiKeyEnv: null },
  ]);
  t.match(
    chooseModels(models, null).map(({ id }) => id),
    ['openai/gpt-5', 'ollama/qwen3', 'house/m', 'open-lab/m'],
  );
  t.throws(() => chooseModels(models, 'openrouter/meta/llama-4'), {
    code: 'MISSING_API_KEY',
    message: /OPENROUTER_API_KEY/,
  });
  t.throws(() => chooseModels(models, 'openai/gpt-4'), { code: 'MODEL_NOT_ALLOWED' });
  t.throws(() => chooseModels([], null), { code: 'AUTONOMY_OFF' });
});
