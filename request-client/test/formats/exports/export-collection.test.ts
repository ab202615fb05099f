import t from 'tap';
import { writtenRequest } from '#request-client/curl/export/written-request.js';
import { authAt } from '#request-client/engine/collection/auth.js';
import { Collection } from '#request-client/engine/collection/collection.js';
import { readRequest } from '#request-client/engine/collection/read-request.js';
import { requestsBelow } from '#request-client/engine/collection-run/collection-runner.js';
import { exportCollection } from '#request-client/formats/exports/export-collection.js';
import { addImported } from '#request-client/formats/imports/add-imported.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const pairs = (...rows: readonly (readonly [string, string, boolean?])[]): object[] =>
  rows.map(([key, value, disabled]) => ({ key, value, ...(disabled === true ? { disabled } : {}) }));
const auth = (type: string, settings: Readonly<Record<string, string>>): object => ({
  type,
  [type]: Object.entries(settings).map(([key, value]) => ({ key, value, type: 'string' })),
});
const request = (name: string, more: object): object => ({
  name,
  request: { method: 'GET', header: [], url: { raw: `https://a.example/${name}` }, ...more },
});
const collection = Collection.parse(
  JSON.stringify({
    info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    auth: auth('bearer', { token: '{{token}}' }),
    variable: pairs(['host', 'https://a.example']),
    item: [
      {
        name: 'Folder',
        auth: auth('basic', { username: 'ada', password: "p'{{x}}" }),
        item: [
          request('query', {
            url: {
              raw: '{{host}}/q/:id?a=1&b=%20',
              query: pairs(['a', '1'], ['off', '2', true], ['b', '%20']),
              variable: pairs(['id', '7']),
            },
            header: pairs(['X-A', 'one "two"'], ['X-Off', '1', true]),
          }),
          request('json', {
            method: 'POST',
            header: pairs(['Content-Type', 'application/json']),
            body: { mode: 'raw', raw: '{"a":\n"{{x}}"}', options: { raw: { language: 'json' } } },
          }),
        ],
      },
      request('form', {
        method: 'PUT',
        body: { mode: 'urlencoded', urlencoded: pairs(['a b', 'c&d']) },
        auth: { type: 'noauth' },
      }),
      request('parts', {
        method: 'POST',
        body: {
          mode: 'formdata',
          formdata: [
            { key: 'a', value: '1', type: 'text' },
            { key: 'f', type: 'file', src: '/tmp/a.png' },
          ],
        },
        auth: auth('apikey', { key: 'k', value: 'v', in: 'query' }),
      }),
      {
        ...request('oauth', {
          auth: auth('oauth2', {
            grant_type: 'authorization_code_with_pkce',
            authorizationUrl: 'https://l.example/a',
            url: 'https://l.example/t',
            client_id: 'c',
            client_secret: 's',
            scope: 'r w',
          }),
        }),
        event: [{ listen: 'test', script: { exec: ["pm.test('ok', () => pm.response.to.have.status(200));"] } }],
      },
    ],
  }),
);

const written = (from: Collection): unknown[] =>
  from.items.flatMap(requestsBelow).map((node) => {
    const { name, method, url, headers, body } = readRequest(node.value);
    return { name, method, url, headers, body };
  });
const auths = (from: Collection): unknown[] => from.items.flatMap(requestsBelow).map((node) => authAt(from, node.path));

function again(format: 'har' | 'insomnia' | 'bruno' | 'curl'): { made: Collection; warnings: readonly string[] } {
  const { text, warnings } = exportCollection(collection, format);
  const imported = importAny(text);
  t.strictSame(imported.errors, [], format);
  return { made: addImported(Collection.create('Again', 'id'), imported), warnings };
}

for (const format of ['insomnia', 'bruno'] as const) {
  t.test(`a collection comes back from ${format} with its folders, requests, bodies, and authorization`, async (t) => {
    const { made, warnings } = again(format);
    t.strictSame(written(made), written(collection));
    t.strictSame(auths(made).map(sorted), auths(collection).map(sorted));
    t.match(JSON.stringify(made.root), /"name":"Folder"/);
    t.match(JSON.stringify(made.root), /pm\.response\.to\.have\.status\(200\)/);
    t.notMatch(JSON.stringify(made.root), /const pm = insomnia/);
    t.strictSame(
      warnings,
      format === 'bruno' ? ['Scripts use the names of Postman (pm), which Bruno does not have (oauth)'] : warnings,
    );
    t.match(JSON.stringify(made.root), /"off"/);
  });
}

/** Settings by name, without those that only one tool writes. */
function sorted(value: unknown): unknown {
  const own = { ...(value as Record<string, unknown>) };
  if (!(own.settings instanceof Map)) return own;
  const kept = [...own.settings].filter(([key]) => key !== 'headerPrefix');
  return { ...own, settings: kept.sort() };
}

t.test('an archive has the requests as they are sent', async (t) => {
  const { made, warnings } = again('har');
  const sent = (from: Collection): unknown[] =>
    from.items.flatMap(requestsBelow).map((node) => {
      const { request: own } = writtenRequest(from, node);
      return [own.method, own.url, own.body];
    });
  t.strictSame(sent(made), sent(collection));
  t.ok(warnings.some((warning) => warning.includes('OAuth 2.0')));
  const first = made.items.flatMap(requestsBelow)[0];
  t.match(readRequest(first?.value).headers, [
    { name: 'Authorization', value: /^Basic / },
    { name: 'X-A', value: 'one "two"' },
  ]);
});

t.test('curl commands are one for each request, and can be imported', async (t) => {
  const { made } = again('curl');
  t.equal(made.items.length, 5);
});

t.test('settings that only Postman knows are named', async (t) => {
  const parameters = [{ key: 'audience', value: 'a', enabled: true, send_as: 'request_body' }];
  const made = Collection.parse(
    JSON.stringify({
      info: { name: 'c' },
      protocolProfileBehavior: { maxRedirects: 3 },
      item: [
        request('one', { auth: { type: 'oauth2', oauth2: [{ key: 'tokenRequestParams', value: parameters }] } }),
        { ...request('two', {}), protocolProfileBehavior: { followOriginalHttpMethod: true } },
      ],
    }),
  );
  for (const format of ['har', 'insomnia', 'bruno', 'curl'] as const) {
    const { warnings } = exportCollection(made, format);
    for (const wanted of [
      /maxRedirects is not exported \(one, two\)/,
      /^Parameters of your own.*\(one\)/,
      /followOriginal.* \(two\)/,
    ]) {
      t.ok(
        warnings.some((warning) => wanted.test(warning)),
        `${format}: ${wanted.source}`,
      );
    }
  }
});
