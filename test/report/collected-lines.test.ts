import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { harPieces, NETWORK_LOG, notedRequests } from '#troupe/report/har.js';
import { readTraceLog, TRACE_LOG } from '#troupe/report/trace/trace-log-file.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const entry = (name: string) => ({
  startedDateTime: '2026-01-01T00:00:00.000Z',
  time: 1,
  request: { method: 'GET', url: `http://a/${name}` },
  response: { status: 500, content: { mimeType: 'text/plain' }, _errorBody: `down\u2028since\u2029noon ${name}` },
  _resourceType: 'fetch',
});

// `node:readline` of Node 24 and 26 ends a line at U+2028 and U+2029, which JSON leaves as they are.
t.test('What a session collected is read whole, whatever its texts contain', async (t) => {
  const dir = t.testdir({});
  writeFileSync(join(dir, NETWORK_LOG), ['one', 'two'].map((name) => `${JSON.stringify(entry(name))}\n`).join(''));
  const { failed } = await notedRequests(dir);
  t.same(
    failed.map(({ request }) => [request.url, request.body]),
    ['one', 'two'].map((name) => [`http://a/${name}`, `down since noon ${name}`]),
  );
  writeFileSync(
    join(dir, NETWORK_LOG),
    `${JSON.stringify({ ...entry('one'), _title: 'a\u2028b' })}\n${JSON.stringify(entry('two'))}\n`,
  );
  let har = '';
  for await (const piece of (await harPieces(dir)) ?? []) har += piece;
  t.match(JSON.parse(har).log.entries, [{ _title: 'a\u2028b' }, { request: { url: 'http://a/two' } }]);
  const line = { kind: 'error', at: 1, text: 'x\u2028y\u2029z', url: 'http://a/' };
  writeFileSync(join(dir, TRACE_LOG), `${JSON.stringify(line)}\n${JSON.stringify(line)}\n`);
  t.same(await readTraceLog(dir), [line, line]);
});

t.test('A command to import may contain them', async (t) => {
  const child = spawn(process.execPath, ['dist/cli.js', 'requests', 'import', '--lines']);
  child.stdin.end(`${JSON.stringify("curl http://a/ -d 'x\u2028y'")}\n`);
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ requests: [{ body: 'x\u2028y' }], errors: [] }],
  );
});
