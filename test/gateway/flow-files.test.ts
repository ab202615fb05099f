import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const house = await openHouse(t);
const gateway = await house.listen();
const textOf = (path: string) => readFileSync(join(house.home, 'flows', path), 'utf8');
const get = (path: string) => httpCall(gateway.url, { method: 'GET', path: `/api/flows/${path}` });
const put = (path: string, body: string | Buffer, headers: { [name: string]: string } = {}) =>
  httpCall(gateway.url, { method: 'PUT', path: `/api/flows/${path}`, body, headers });

t.test('A flow is created with its folders, read back with the same ETag, and replaced', async (t) => {
  const text = '// Grüße.\n() => 1\n';
  const made = await put('shop/new.js', text, { 'if-none-match': '*' });
  t.match(made, { status: 200, json: { path: 'shop/new.js', bytes: Buffer.byteLength(text), fault: null } });
  const read = await get('shop/new.js');
  t.equal(read.text, text);
  t.equal(read.headers.etag, made.headers.etag);
  const changed = await put('shop/new.js', '() => 2', { 'if-match': String(made.headers.etag) });
  t.equal(changed.status, 200);
  t.not(changed.headers.etag, made.headers.etag);
  t.equal(textOf('shop/new.js'), '() => 2');
});

t.test('A flow with a syntax error is saved, and the answer names its place', async (t) => {
  t.match(await put('broken.js', '() => {\n  let = ;\n}'), { status: 200, json: { fault: { line: 2 } } });
  t.match(await put('task.md', '# Not ( JavaScript'), { status: 200, json: { fault: null } });
  t.match(await put('typed.ts', '(args: { user: string }) => args.user'), { status: 200, json: { fault: null } });
});

t.test('A text that somebody changed in between is not overwritten', async (t) => {
  const first = String((await put('both.js', '() => 1')).headers.etag);
  const second = String((await put('both.js', '() => 2', { 'if-match': first })).headers.etag);
  const refusals = [
    { 'if-match': first },
    { 'if-match': `"other", ${first}` },
    { 'if-match': `W/${second}` },
    { 'if-none-match': '*' },
    { 'if-none-match': second },
  ];
  for (const headers of refusals) {
    const refused = await put('both.js', '() => 3', headers);
    t.match(refused, { status: 412, json: { code: 'PRECONDITION_FAILED' } }, JSON.stringify(headers));
  }
  t.match(await put('none.js', '() => 3', { 'if-match': '*' }), { status: 412, json: { error: /does not exist/ } });
  t.equal(textOf('both.js'), '() => 2');
  for (const headers of [{ 'if-match': '*' }, { 'if-none-match': first }, { 'if-match': '"x", *' }]) {
    const { status } = await put('both.js', '() => 2', headers);
    t.equal(status, headers['if-match'] === '"x", *' ? 400 : 200, JSON.stringify(headers));
  }
});

t.test('Of changes to the same text at the same time, one is saved', async (t) => {
  const etag = String((await put('race.js', '() => 0')).headers.etag);
  const tries = Array.from({ length: 8 }, (_, n) => put('race.js', `() => ${n + 1}`, { 'if-match': etag }));
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  t.same(statuses.filter((status) => status === 200).length, 1);
  t.same(statuses.filter((status) => status === 412).length, 7);
  t.equal(textOf('race.js'), `() => ${statuses.indexOf(200) + 1}`);
});

t.test('Malformed headers, texts and paths are refused, and nothing is written', async (t) => {
  mkdirSync(join(house.home, 'flows', 'folder.js'));
  symlinkSync(house.home, join(house.home, 'flows', 'out'));
  const invalid = { status: 400, json: { code: 'INVALID_REQUEST' } };
  for (const tag of ['x', '"x', 'w/"x"', '"x" "y"', ','])
    t.match(await put('h.js', 'x', { 'if-match': tag }), invalid, tag);
  t.match(await put('bytes.js', Buffer.from([0xff, 0xfe])), { ...invalid, json: { error: /UTF-8/ } });
  for (const path of [
    'a.txt',
    'a',
    'types.d.ts',
    'troupe-run.json',
    '.hidden.js',
    '..%2fx.js',
    'a//b.js',
    './a%00.js',
    'con.js',
    'folder.js',
    'out/x.js',
    'quick.js/x.js',
    'a%5Cb.js',
  ])
    t.match(await put(path, '() => 1'), invalid, path);
  t.match(await put('long.js', 'x'.repeat(1024 * 1024 + 1)), { status: 413, json: { code: 'BODY_TOO_LARGE' } });
  for (const path of ['h.js', 'bytes.js', 'long.js']) t.equal((await get(path)).status, 404, path);
});

t.test('Only an admin changes flows', async (t) => {
  const { tokens } = house.sessions;
  const admin = await tokens.create({ name: 'admin', role: 'admin' }, false);
  const run = await tokens.create({ name: 'run', role: 'run' }, true);
  const as = (token: string) => put('roles.js', '() => 1', { authorization: `Bearer ${token}` });
  t.match(await put('roles.js', '() => 1'), { status: 401 });
  t.match(await as(run.token), { status: 403, json: { code: 'FORBIDDEN' } });
  t.equal((await as(admin.token)).status, 200);
});
