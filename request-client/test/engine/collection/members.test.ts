import { readFile } from 'node:fs/promises';
import t from 'tap';
import { sendSettings } from '#request-client/engine/collection/behaviour.js';
import { Collection } from '#request-client/engine/collection/collection.js';
import { memberNotes, SETTINGS } from '#request-client/engine/collection/members.js';
import { CollectionRunner } from '#request-client/engine/collection-run/collection-runner.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/';
const made = (own: object, item: object[]): string => JSON.stringify({ info: { name: 'c' }, ...own, item });
const notes = (own: object, path: (string | number)[] = ['item', 0]): string[] =>
  memberNotes(Collection.parse(made({}, [own])), path).map(({ message }) => message);

t.test('what is used, empty, or a name of a program for itself, has no note', async (t) => {
  const item = {
    id: '1',
    name: 'a',
    _postman_isSubFolder: true,
    'x-vendor': { a: 1 },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: [''], packages: {}, requests: {} } }],
    protocolProfileBehavior: {
      followRedirects: true,
      maxRedirects: 3,
      tlsPreferServerCiphers: false,
      tlsCipherSelection: [],
    },
    request: {
      method: 'GET',
      description: 'd',
      proxy: { host: 'p', disabled: true },
      header: [{ key: 'A', value: '1', type: 'text', description: 'why', uuid: 'u' }],
      url: { raw: NOWHERE, protocol: 'http', host: ['127', '0', '0', '1'], port: '9', path: [''], variable: [] },
      body: { mode: 'raw', raw: '', options: { raw: { language: 'json', headerFamily: 'json' } } },
      auth: {
        type: 'digest',
        digest: [
          { key: 'algorithm', value: 'MD5' },
          { key: 'realm', value: '' },
        ],
      },
    },
    variable: [{ key: 'v', value: '1', type: 'string' }],
    response: [{ name: 'saved', anything: 1 }],
  };
  t.strictSame(notes(item), []);
});

t.test('what is not used has a note that says why; what is not known, that it is not understood', async (t) => {
  const item = {
    surprise: 1,
    event: [{ listen: 'beforeInvoke', script: { exec: [''], packages: { '@team/lib': {} } } }],
    protocolProfileBehavior: { tlsDisabledProtocols: ['TLSv1_2'], maxRedirects: 'many', followHeaders: true },
    request: {
      proxy: { host: 'proxy.example' },
      certificate: { key: { src: 'k' } },
      url: {
        raw: 'http://one.example/old',
        host: ['two', 'example'],
        path: [':id'],
        variable: [{ key: 'id', value: '' }],
        query: [{ key: 'q', value: '1', encoding: 'none' }],
      },
      body: { mode: 'protobuf', raw: 'x' },
      auth: { type: 'hawk', hawk: [{ key: 'user', value: 'ada' }] },
    },
  };
  t.match(notes(item), [
    /^surprise is not understood and has no effect$/,
    /^event\.listen is "beforeInvoke", which is not understood/,
    /^event\.script\.packages is not used: /,
    /^protocolProfileBehavior\.tlsDisabledProtocols is not used: /,
    /^protocolProfileBehavior\.maxRedirects is "many", which is not a number of redirects$/,
    /^protocolProfileBehavior\.followHeaders is not understood/,
    /^request\.proxy is not used: set the proxy .* --proxy/,
    /^request\.certificate is not used/,
    /^request\.url\.query\.encoding is not understood/,
    /^request\.body\.mode is "protobuf"/,
    /^hawk\.user is not used/,
    /^url\.raw is another address than its parts, which are used: http:\/\/one\.example\/old$/,
    /^The path variable :id has no value/,
  ]);
});

t.test('the settings of redirects are those that are sent', async (t) => {
  const behaviour = { removeRefererHeaderOnRedirect: false, maxRedirects: '3', followOriginalHttpMethod: true };
  t.match(sendSettings(behaviour), { addReferer: true, maxRedirects: 3, keepMethod: true });
  t.notMatch(sendSettings({ removeRefererHeaderOnRedirect: true }), { addReferer: true });
});

t.test('one address in two forms is no contradiction', async (t) => {
  const address = (url: object) => notes({ request: { url } });
  const parts = { protocol: 'https', host: ['a', 'example'] };
  t.strictSame(address({ raw: 'https://a.example/', ...parts }), []);
  t.strictSame(address({ raw: 'https://a.example', ...parts, path: [''] }), []);
  t.strictSame(address({ raw: 'https://a.example/x#top', ...parts, path: ['x'] }), []);
  t.strictSame(
    address({ raw: 'https://a.example/?c=#f&d', ...parts, path: [''], query: [{ key: 'c', value: '#f&d' }] }),
    [],
  );
  t.strictSame(address({ raw: 'https://a.example?a=', ...parts, query: [{ key: 'a', value: null }] }), []);
  t.strictSame(
    address({
      raw: 'https://a.example?a=1&b=2',
      ...parts,
      query: [
        { key: 'a', value: '1' },
        { key: 'b', value: '2', disabled: true },
      ],
    }),
    [],
  );
  t.strictSame(
    address({ raw: '{{base}}/:id', host: ['{{base}}'], path: [':id'], variable: [{ key: 'id', value: '1' }] }),
    [],
  );
  t.match(address({ raw: 'http://a.example', ...parts }), [/another address/]);
});

t.test('an import names them with their requests, a run each of them once', async (t) => {
  const request = { method: 'GET', url: NOWHERE, proxy: { host: 'p' } };
  const text = made({ protocolProfileBehavior: { tlsCipherSelection: ['X'] } }, [
    { name: 'one', request },
    { name: 'folder', extra: true, item: [{ name: 'two', request }] },
  ]);
  const { warnings, items } = importAny(text);
  t.match(
    warnings.map(({ message }) => message),
    [
      /^protocolProfileBehavior\.tlsCipherSelection is not used/,
      /^request\.proxy is not used.*\(one, two\)$/,
      /^extra .*\(folder\)$/,
    ],
  );
  t.match(items, [{ name: 'c', protocolProfileBehavior: { tlsCipherSelection: ['X'] } }]);

  const collection = Collection.parse(text);
  const runner = new CollectionRunner({
    collection,
    environment: new Map(),
    folder: '.',
    tokens: new TokenStore({ openBrowser: async () => undefined }),
  });
  t.teardown(() => runner.close());
  const said: string[][] = [];
  const listen = async ({ console }: { readonly console: readonly string[] }) => {
    said.push([...console]);
    return undefined;
  };
  await runner.runAll(collection.items, listen);
  await runner.runAll(collection.items, listen);
  t.match(said, [[/tlsCipherSelection/, /request\.proxy/], [/^warning: extra is not understood/], [], []]);
});

t.test('the documentation has a row for each setting', async (t) => {
  const page = await readFile('docs/request-client.md', 'utf8');
  const section = page
    .split('\n## ')
    .filter((one) => /^(?:Settings of a Postman collection|OAuth 2\.0)\n/.test(one))
    .join('\n');
  const named = new Set([...section.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  for (const [within, members] of Object.entries(SETTINGS)) {
    for (const [name, fate] of Object.entries(members)) {
      if (fate === 'kept') continue;
      t.ok(named.has(name), `${within}: ${name}`);
    }
  }
});
