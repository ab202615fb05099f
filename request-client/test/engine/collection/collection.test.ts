import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importCurl } from '#request-client/curl/import/import-curl.js';
import { authAt } from '#request-client/engine/collection/auth.js';
import { Collection, type CollectionNode } from '#request-client/engine/collection/collection.js';
import { CollectionFile } from '#request-client/engine/collection/collection-file.js';
import { readRequest } from '#request-client/engine/collection/read-request.js';
import { TextFile } from '#request-client/engine/collection/text-file.js';
import { writeItem } from '#request-client/engine/collection/write-request.js';
import { requestsBelow } from '#request-client/engine/collection-run/collection-runner.js';
import { addImported } from '#request-client/formats/imports/add-imported.js';
import { importAny } from '#request-client/formats/imports/import-any.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { browserForms } from '../../curl/import/browser-forms.js';
import { OPTION_COMMANDS, quotedCommands } from '../../curl/import/posix-commands.js';

guardLeaks(t);

/** What JSON.parse and stringify would not restore: numbers, escapes, order of keys, repeated keys, spacing. */
const ODD = `{
\t"info": { "name": "Odd",   "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" , "x": 1.0 },
\t"9": "nine", "1": 1e5, "_unknown": {"__proto__": "\\u00e9\\/", "deep": [1,2,   3]},
\t"item": [
\t\t{"name":"a", "request": {"method": "GET", "url": "http://h/a", "header": [], "_x": 1.50}, "response": [{"id":"r"}]},
\t\t{ "name": "folder", "description": {"content": "*md*"}, "item": [ {"name": "inner", "request": "http://h/inner"} ], "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{t}}", "type": "string"}]} }
\t],
\t"auth": {"type": "basic", "basic": {"username": "u", "password": "p"}}
}
`;

const nodeAt = (collection: Collection, ...indices: number[]): CollectionNode => {
  let nodes = collection.items;
  let found: CollectionNode | undefined;
  for (const index of indices) {
    found = nodes[index];
    nodes = found?.children ?? [];
  }
  if (found === undefined) throw new Error('no such item');
  return found;
};

t.test('an edit changes only its own characters', async (t) => {
  const collection = Collection.parse(ODD);
  t.equal(collection.text, ODD);
  t.equal(collection.set(['item', 0, 'name'], 'b').text, ODD.replace('"name":"a"', '"name":"b"'));
  t.equal(collection.set(['item', 0, 'request', 'method'], 'PUT').text, ODD.replace('"GET"', '"PUT"'));
  const added = collection.insert(['item', 2], { name: 'new' });
  t.ok(added.text.startsWith(ODD.slice(0, ODD.indexOf('\n\t],'))));
  t.ok(added.text.endsWith(ODD.slice(ODD.indexOf('\n\t],'))));
  t.equal(added.remove(['item', 2]).at(['item', 2]), undefined);
  t.equal(nodeAt(added, 2).name, 'new');
});

t.test('auth comes from the nearest item that has one, in the forms of v2.1 and v2.0', async (t) => {
  const collection = Collection.parse(ODD);
  t.strictSame(authAt(collection, nodeAt(collection, 0).path), { kind: 'basic', username: 'u', password: 'p' });
  t.strictSame(authAt(collection, nodeAt(collection, 1, 0).path), { kind: 'bearer', token: '{{t}}' });
  const own = collection.set(['item', 0, 'request', 'auth'], { type: 'noauth' });
  t.strictSame(authAt(own, ['item', 0]), { kind: 'none' });
});

t.test('every form of a Postman request is read', async (t) => {
  const read = (request: unknown) => readRequest({ name: 'x', request });
  t.match(read('http://h/inner'), { method: 'GET', url: 'http://h/inner' });
  t.match(
    read({
      url: {
        protocol: 'https',
        host: ['a', 'b'],
        port: '8',
        path: ['x', ':id'],
        query: [
          { key: 'q', value: '1' },
          { key: 'off', value: '2', disabled: true },
          { key: 'bare', value: null },
        ],
        variable: [{ key: 'id', value: '7' }],
      },
      header: 'A: 1\nB: 2',
    }),
    {
      url: 'https://a.b:8/x/7?q=1&bare',
      headers: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
    },
  );
  const post = (body: unknown) => read({ method: 'POST', url: 'http://h/', body });
  t.match(post({ mode: 'raw', raw: '{}', options: { raw: { language: 'json' } } }), {
    headers: [{ name: 'Content-Type', value: 'application/json' }],
  });
  t.match(
    post({
      mode: 'urlencoded',
      urlencoded: [
        { key: 'a b', value: '{{x}}&é' },
        { key: 'off', disabled: true },
      ],
    }),
    {
      body: { text: 'a%20b={{x}}%26%C3%A9' },
    },
  );
  t.match(
    post({
      mode: 'formdata',
      formdata: [
        { key: 'f', type: 'file', src: ['a', 'b'] },
        { key: 't', value: 'v' },
      ],
    }),
    {
      body: { parts: [{ path: 'a' }, { path: 'b' }, { value: 'v' }] },
    },
  );
  t.match(post({ mode: 'graphql', graphql: { query: '{ a }', variables: '{"b": 1}' } }), {
    body: { text: '{"query":"{ a }","variables":{"b": 1}}' },
  });
  t.match(read({ method: 'GET', url: 'http://h/', body: { mode: 'raw', raw: 'x' } }), { body: { kind: 'none' } });
});

t.test('an imported request is the same when it is read from the collection again', async (t) => {
  const commands = [...browserForms.map(({ text }) => text), ...OPTION_COMMANDS, ...quotedCommands()];
  const requests = commands.flatMap((command) => importCurl(command).requests);
  for (const request of requests) {
    const again = readRequest(writeItem(request));
    const { body } = request;
    const empty = body.kind === 'text' && body.text === '';
    const wanted = { ...request, auth: null, ...(empty ? { body: { kind: 'none' } } : {}) };
    const off = request.body.kind !== 'none' && !request.headers.some(({ name }) => /^content-type$/i.test(name));
    t.match(again, { ...wanted, withoutHeaders: off ? Array : wanted.withoutHeaders }, request.url);
  }
});

t.test('imported requests do not inherit the authorization of the collection that they are added to', async (t) => {
  const auth = { type: 'bearer', bearer: [{ key: 'token', value: 'own', type: 'string' }] };
  const own = Collection.create('Own', 'id')
    .set(['auth'], auth)
    .set(['item'], [{ name: 'Folder', item: [] }]);
  const kindsIn = (made: Collection): string[] =>
    made.items.flatMap(requestsBelow).map(({ path }) => authAt(made, path).kind);
  t.strictSame(kindsIn(addImported(own, importAny('curl http://h/1; curl -u a:b http://h/2'))), ['none', 'basic']);
  t.strictSame(kindsIn(addImported(own, importAny('curl http://h/1'), ['item', 0])), ['none']);
  const folder = JSON.stringify({ info: { name: 'Other' }, item: [{ name: 'R', request: 'http://h/3' }] });
  t.strictSame(kindsIn(addImported(own, importAny(folder))), ['none']);
});

t.test('imported requests are added at the end, with new variables only', async (t) => {
  const imported = importAny('KEY=k1\ncurl http://h/$KEY/$OTHER');
  const once = addImported(Collection.create('New', 'id'), imported);
  const twice = addImported(once, imported);
  t.equal(twice.items.length, 2);
  t.match(twice.at(['variable']), [
    { key: 'KEY', value: 'k1' },
    { key: 'OTHER', value: '' },
  ]);
});

t.test('a file that is not a collection is rejected with a message', async (t) => {
  t.throws(() => Collection.parse('{"info": {},\n "item": [}'), { message: /not valid JSON: .* at line 2, column 11/ });
  t.throws(() => Collection.parse('{"collection": {"info": {}, "item": []}}'), { message: /Postman API/ });
  t.throws(() => Collection.parse('[]'), { message: /v2\.1 and v2\.0/ });
});

t.test("a file is saved completely, and not over somebody else's changes", async (t) => {
  const path = join(t.testdir({ 'c.json': ODD }), 'c.json');
  const file = await CollectionFile.open(path);
  file.collection = file.collection.set(['info', 'name'], 'New');
  await file.save();
  t.equal(readFileSync(path, 'utf8'), ODD.replace('"Odd"', '"New"'));
  t.equal(await file.changedOnDisk(), false);
  writeFileSync(path, ODD);
  t.equal(await file.changedOnDisk(), true);
  await t.rejects(file.save(), { code: 'INVALID_REQUEST', details: { changedOnDisk: true } });
  await file.save({ overwrite: true });
  t.equal(statSync(path).size, file.collection.text.length);
  await t.rejects(CollectionFile.open(`${path}.none`), { code: 'NOT_FOUND' });
  await t.rejects(TextFile.create(path).write('{}'), { message: /^c\.json exists already; choose another name/ });
});

t.test('a collection of two thousand requests opens, and its last one can be changed', async (t) => {
  const one = JSON.stringify({ name: 'r', request: { method: 'GET', url: 'http://h/' }, response: [] });
  const text = `{"info":{"name":"big"},"item":[${Array.from({ length: 2000 }, () => one).join(',')}]}`;
  const collection = Collection.parse(text);
  t.equal(collection.items.length, 2000);
  t.equal(collection.set(['item', 1999, 'name'], 'x').items[1999]?.name, 'x');
});
