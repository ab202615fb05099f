import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { RequestDraft } from '#request-client/engine/request.js';
import { literal } from '#request-client/formats/exports/code-literal.js';
import { exportCode } from '#request-client/formats/exports/export-code.js';
import { CodeLanguage } from '#request-client/protocol/request-exports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);

const BODY = '{"a": 1.0, "b": "it\'s \\"q\\" $x $y #{z} \\n é\u0001"}\n\tend\\';
const draft = (more: Partial<RequestDraft> = {}): RequestDraft => ({
  name: 'Test',
  method: 'POST',
  url: 'https://a.example/p%20q?x=1&z=$v&x=2',
  headers: [
    { name: 'Content-Type', value: 'application/json; charset=utf-8' },
    { name: 'X-Quotes', value: `it's "q" $HOME #{x} \\` },
    { name: 'X-Twice', value: '1' },
    { name: 'X-Twice', value: '2' },
  ],
  withoutHeaders: [],
  body: { kind: 'text', text: BODY },
  auth: null,
  settings: { followRedirects: true, verifyTls: true, encodeUrl: true },
  ...more,
});

for (const language of CodeLanguage.options) {
  t.test(`code for ${language} has the whole address, each header once, and the body as it is`, async (t) => {
    const { command, warnings } = exportCode(draft(), language);
    t.strictSame(warnings, []);
    t.notMatch(command, /troupe-value/);
    const unescaped = command.replaceAll('\\$', '$');
    t.ok(unescaped.includes('https://a.example/p%20q?x=1&z=$v&x=2'), command);
    t.match(command, /1, 2/);
    t.match(command, /1\.0/);
    const plain = exportCode(draft({ method: 'GET', headers: [], body: { kind: 'none' } }), language);
    t.notMatch(plain.command, /troupe-value/);
  });
}

t.test('the code for JavaScript sends exactly the request', async (t) => {
  let heard: {
    method: string | undefined;
    url: string | undefined;
    headers: Readonly<Record<string, unknown>>;
    body: string;
  } | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    heard = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    response.setHeader('Content-Type', 'application/json');
    response.end('{"seen": true}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { command } = exportCode(draft({ url: `http://127.0.0.1:${port}/p%20q?x=1&z=$v&x=2` }), 'javascript');
  const child = spawn(process.execPath, ['--input-type=module', '-e', command]);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  t.match(output, /seen: true/);
  t.match(heard, {
    method: 'POST',
    url: '/p%20q?x=1&z=$v&x=2',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-quotes': `it's "q" $HOME #{x} \\`,
      'x-twice': '1, 2',
    },
    body: BODY,
  });
});

t.test('a text is read back by JavaScript as it was, whatever it contains', async (t) => {
  const nasty = `${Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code)).join('')}\u2028\u2029𝄞`;
  for (const quotes of ["'", '"']) t.equal(new Function(`return ${literal(nasty, quotes, 'javascript')}`)(), nasty);
  t.equal(literal('$a "b"\n', '"', 'kotlin'), '"\\$a \\"b\\"\\n"');
  t.equal(literal('\u00011', '"', 'c'), '"\\0011"');
  t.equal(literal("it's \\", "'", 'ruby'), "'it\\'s \\\\'");
  t.equal(literal('#{x}', '"', 'ruby'), '"\\#{x}"');
});

t.test('what code cannot contain is named', async (t) => {
  const { warnings } = exportCode(
    draft({
      body: { kind: 'file', path: 'a.bin', withoutNewlines: false },
      auth: { kind: 'digest', username: 'a', password: 'b' },
      settings: { followRedirects: true, verifyTls: false, encodeUrl: true },
    }),
    'python',
  );
  t.match(warnings.join('\n'), /a\.bin/);
  t.match(warnings.join('\n'), /digest/);
  t.match(warnings.join('\n'), /certificates/);
});
