import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);
const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

async function troupe(args: readonly string[], input = ''): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [cli, 'requests', ...args]);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  child.stdin.end(input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
}

t.test('import answers one JSON value a line, in order, and an error for a line that is none', async (t) => {
  const lines = [JSON.stringify("curl http://a/ -d 'x\ny'"), 'no json', JSON.stringify('curl')];
  const { code, out } = await troupe(['import', '--lines'], lines.join('\n'));
  t.equal(code, 1);
  t.match(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      {
        requests: [
          { name: 'POST a/', method: 'POST', url: 'http://a/', headers: [{ name: 'Content-Type' }], body: 'x\ny' },
        ],
      },
      { requests: [], errors: [{ message: /not a JSON string/ }] },
      { requests: [], errors: [{ message: /no URL/, line: 1, column: 1 }] },
    ],
  );
});

t.test('what is imported into a collection runs; the exit code and JUnit say how', async (t) => {
  const server = createServer((request, response) => void response.end(`${request.method} ${request.url}`));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = t.testdir({ 'env.json': JSON.stringify({ BASE: base }) });
  const [file, env, junit] = ['shop.json', 'env.json', 'out.xml'].map((name) => join(folder, name));
  const imported = await troupe(['import', '--into', file ?? ''], 'curl -X PUT "$BASE/x"; curl -s $BASE/y');
  t.equal(imported.code, 0, imported.err);
  const run = await troupe(['run', file ?? '', '--env', env ?? '', '--junit', junit ?? '']);
  t.equal(run.code, 0, run.out + run.err);
  t.match(run.out, /ok {5}PUT .*-> 200 OK[\s\S]*2 requests/);
  t.match(readFileSync(junit ?? '', 'utf8'), /tests="2" failures="0" errors="0"/);
  const without = await troupe(['run', file ?? '', '--folder', 'GET {{BASE}}/y']);
  t.equal(without.code === 0, false);
  t.equal((await troupe(['run'])).code, 2);
});

t.test('each row of a data file has test cases of its own, and servers cannot write to the terminal', async (t) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 \u001b[31mok\u0007\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const exec = ['pm.test("t", () => {}); pm.test("t", () => {}); console.log("\\u001b]0;title\\u0007a\\rFAILED b")'];
  const item = {
    name: 'One',
    event: [{ listen: 'test', script: { exec } }],
    request: `http://127.0.0.1:${port}/{{id}}`,
  };
  const folder = t.testdir({
    'shop.json': JSON.stringify({ info: { name: 'Shop' }, item: [item] }),
    'users.txt': Buffer.from('\uFEFFid\tname\r\n1\tZoë\r\n2\tIda\r\n3\tEve\r\n', 'utf16le'),
    'bad.csv': 'id,name\n1,Zoë\n2,Ida,x\n',
  });
  const [file, data, bad, junit] = ['shop.json', 'users.txt', 'bad.csv', 'out.xml'].map((name) => join(folder, name));
  const { code, out, err } = await troupe(['run', file ?? '', '--data', data ?? '', '--junit', junit ?? '']);
  t.equal(code, 0, out + err);
  t.match(out, /One \[iteration 3\]: GET http:\/\/127\.0\.0\.1:\d+\/3 -> 200 ok/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
  t.notMatch(out, /[\u001b\u0007\r]|\nFAILED/);
  const cases = readFileSync(junit ?? '', 'utf8').match(/<testcase name="[^"]*" classname="[^"]*"/g) ?? [];
  t.equal(cases.length, 6);
  t.equal(new Set(cases).size, 6, cases.join('\n'));
  const refused = await troupe(['run', file ?? '', '--data', bad ?? '']);
  t.equal(refused.out, '', 'nothing is sent');
  t.match(refused.err, /bad\.csv cannot be used: line 3: 'x' in column 3 has no name/);
});
