import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readRunSettings, serveForRun } from '#troupe/cli/run/run-serve.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { SELF_SIGNED } from '../../request-client/test/engine/run/self-signed.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const NODE = JSON.stringify(process.execPath);

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'serve-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function listen(t: Test, server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(port, host);
  await once(server, 'listening');
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listens. */
async function freePort(host = '127.0.0.1'): Promise<number> {
  const probe = createPlainServer().listen(0, host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

interface Served {
  readonly error: TroupeError | null;
  readonly lines: readonly string[];
  readonly cwd: string;
  readonly stop: () => Promise<void>;
}

/** Serves for a run; the command is a script of Node in the folder of the run. */
async function serve(
  t: Test,
  url: string,
  {
    script = "require('node:fs').writeFileSync('started', ''); setInterval(() => {}, 1e6);",
    timeout = 60,
    anyway = false,
  } = {},
): Promise<Served> {
  const cwd = folderOf(t);
  writeFileSync(join(cwd, 'serve.cjs'), script);
  const lines: string[] = [];
  const signal = new AbortController().signal;
  const settings = { command: `exec ${NODE} serve.cjs`, url, timeout };
  const ending = serveForRun(settings, { cwd, signal, anyway, say: (line) => lines.push(line) });
  try {
    const stop = await ending;
    t.teardown(stop);
    return { error: null, lines, cwd, stop };
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    return { error, lines, cwd, stop: async () => undefined };
  }
}

const answering =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end();

/** Answers by path. */
const routes =
  (table: { readonly [path: string]: RequestListener }): RequestListener =>
  (request, response) =>
    (table[request.url ?? ''] ?? answering(404))(request, response);

t.test('What already answers is used and said, and `serve` is not started', async (t) => {
  const usable: { readonly [name: string]: RequestListener } = {
    'a page': answering(200),
    // Unlike a page it is refused to us, not missing: microsoft/playwright#14793, a site whose pages need a login.
    'a page behind a password': answering(401),
    'a page that is forbidden': answering(403),
    // No page at the address itself: microsoft/playwright#22196, 302 counted as "not up" until the time was over.
    'a redirect to a login page': routes({ '/': answering(302, { location: '/login' }), '/login': answering(200) }),
    // Where it leads is another site's affair, which may be away.
    'a redirect to another site': answering(302, { location: 'http://127.0.0.1:1/login' }),
    // Ends only for who keeps its cookie, as a browser does.
    'a redirect in a circle': answering(307, { location: '/' }),
    'a redirect without an address': answering(302),
    // The head is the answer; its body never ends.
    'a page that goes on for ever': (_, response) => void response.writeHead(200).write('<h1>'),
  };
  for (const [name, listener] of Object.entries(usable)) {
    await t.test(name, async (t) => {
      const url = `http://127.0.0.1:${await listen(t, createServer(listener))}`;
      const { error, lines, cwd } = await serve(t, url);
      t.equal(error, null);
      t.same(lines, [`${url} already answers; \`serve\` is not started`]);
      t.notOk(existsSync(join(cwd, 'started')));
    });
  }

  // microsoft/playwright#29475: a certificate that nobody vouches for is refused while connecting, before any status.
  await t.test('a site with a certificate of its own', async (t) => {
    const port = await listen(t, createSecureServer(SELF_SIGNED, answering(200)));
    t.match(await serve(t, `https://127.0.0.1:${port}`), { error: null, lines: [/already answers/] });
  });

  // microsoft/playwright#24101: localhost is two addresses, and the server has chosen the other one.
  for (const [host, name] of [
    ['127.0.0.1', 'localhost'],
    ['::1', 'localhost'],
    ['::1', 'shop.localhost'],
  ] as const) {
    await t.test(`a site on ${host} at ${name}`, async (t) => {
      const port = await listen(t, createServer(answering(200)), host);
      t.match(await serve(t, `http://${name}:${port}`), { error: null, lines: [/already answers/] });
    });
  }

  await t.test('without the password that stands in its address', async (t) => {
    const port = await listen(t, createServer(answering(200)));
    const { lines } = await serve(t, `http://ada:geheim@127.0.0.1:${port}/a@b`);
    t.same(lines, [`http://127.0.0.1:${port}/a@b already answers; \`serve\` is not started`]);
  });
});

t.test(
  'What is there but cannot be what the flows test ends the run at once, and `serve` is not started',
  async (t) => {
    const refused: { readonly [name: string]: readonly [listener: RequestListener, message: RegExp] } = {
      // dstN/EuroDraft#35: an editor's file server held the port, and every test ran against its "File not found".
      'another site': [
        answering(404),
        /^http:\S+ answers 404; `serve` is not started\. Give a path that answers in `url`/,
      ],
      'a site that is broken': [answering(500), /answers 500;/],
      // The site is not there at all: who answers stands before it.
      'a proxy without its site': [answering(502), /answers 502;/],
      'a redirect to a page that is missing': [
        routes({ '/': answering(301, { location: '/app/' }) }),
        /\/app\/ answers 404;/,
      ],
      'a page whose connection is closed': [
        (request) => void request.socket.destroy(),
        /closes them without an answer at/,
      ],
    };
    for (const [name, [listener, message]] of Object.entries(refused)) {
      await t.test(name, async (t) => {
        const url = `http://127.0.0.1:${await listen(t, createServer(listener))}`;
        const { error, lines, cwd } = await serve(t, url);
        t.match(error, { code: 'INVALID_REQUEST', message });
        t.match(error?.message, '--serve-anyway');
        t.same(lines, []);
        t.notOk(existsSync(join(cwd, 'started')));
      });
    }

    await t.test('what accepts connections and never answers', async (t) => {
      const port = await listen(t, createPlainServer());
      const { error, cwd } = await serve(t, `http://127.0.0.1:${port}`, { timeout: 0.2 });
      t.match(error, { code: 'INVALID_REQUEST', message: /does not answer within 0\.2 s at http:/ });
      t.notOk(existsSync(join(cwd, 'started')));
    });

    await t.test('what speaks another language', async (t) => {
      const port = await listen(
        t,
        createPlainServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')),
      );
      t.match((await serve(t, `http://127.0.0.1:${port}`)).error, { message: /does not answer in HTTP \(HPE_/ });
    });

    await t.test('a site without TLS at an https address', async (t) => {
      const port = await listen(t, createServer(answering(200)));
      t.match((await serve(t, `https://127.0.0.1:${port}`)).error, { message: /does not answer in HTTPS/ });
    });
  },
);

/** A server in the folder of the run, as source. */
const server = (port: number, listener: string, host = '127.0.0.1') =>
  `require('node:http').createServer(${listener}).listen(${port}, '${host}');`;

t.test('A `serve` that is started', async (t) => {
  await t.test('is waited for while it answers what is no page, which is said once', async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const script = `let asked = 0; ${server(port, '(_, a) => a.writeHead(asked++ < 3 ? 503 : 200).end()')}`;
    const { error, lines, stop } = await serve(t, url, { script });
    t.equal(error, null);
    t.same(lines, [`${url} answers 503; waiting up to 60 s for a page`]);
    await stop();
    await t.rejects(fetch(url), 'it has ended');
  });

  await t.test('ends the run when it answers 404 until the time is over', async (t) => {
    const port = await freePort();
    const script = server(port, '(_, a) => a.writeHead(404).end()');
    const { error } = await serve(t, `http://127.0.0.1:${port}`, { script, timeout: 3 });
    t.match(error, {
      code: 'UNAVAILABLE',
      message: /still answers 404 at \S+ after 3 s: give a path .*--serve-anyway/,
    });
    await t.rejects(fetch(`http://127.0.0.1:${port}`), 'it has ended');
  });

  await t.test('ends the run when it ends first, with its last words', async (t) => {
    const script = "console.error('no database'); process.exitCode = 3;";
    const { error } = await serve(t, `http://127.0.0.1:${await freePort()}`, { script });
    t.match(error, { code: 'UNAVAILABLE', message: /ended with 3:\nno database$/ });
  });

  // Killed, it has no exit code: nobody would notice until the time is over.
  await t.test('ends the run when something kills it', async (t) => {
    const script = "process.kill(process.pid, 'SIGKILL');";
    const { error } = await serve(t, `http://127.0.0.1:${await freePort()}`, { script });
    t.match(error, { code: 'UNAVAILABLE', message: /ended with SIGKILL/ });
  });

  await t.test('ends the run when it cannot be started', async (t) => {
    const settings = { command: 'true', url: `http://127.0.0.1:${await freePort()}` };
    const run = { cwd: '/nonexistent', signal: new AbortController().signal, anyway: false, say: () => undefined };
    await t.rejects(serveForRun(settings, run), { code: 'UNAVAILABLE', message: /'true' does not start: .*ENOENT/ });
  });

  await t.test('on the other loopback address is found', async (t) => {
    const port = await freePort('::1');
    const script = server(port, '(_, a) => a.end()', '::1');
    const { error } = await serve(t, `http://127.0.0.1:${port}`, { script, timeout: 3 });
    t.match(error?.message, `within 3 s, but something answers at http://[::1]:${port}/`);
  });

  await t.test('is missed when it ends during the run', async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const script = server(
      port,
      "(q, a) => { a.end(); if (q.url === '/crash') { console.error('a bug'); process.exit(1); } }",
    );
    const { lines } = await serve(t, url, { script });
    await fetch(`${url}crash`).catch(() => undefined);
    await eventually('it is said', () => lines.length > 0);
    t.match(lines[0], /ended with 1:\na bug\nThe flows continue without it\./);
  });

  await t.test('and is cancelled ends, too', async (t) => {
    const cwd = folderOf(t);
    const cancelled = new AbortController();
    writeFileSync(
      join(cwd, 'serve.cjs'),
      "require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1e6);",
    );
    const settings = { command: `exec ${NODE} serve.cjs`, url: `http://127.0.0.1:${await freePort()}` };
    const ending = serveForRun(settings, { cwd, signal: cancelled.signal, anyway: false, say: () => undefined });
    await eventually(
      'the command runs',
      () => existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8') !== '',
    );
    cancelled.abort(new TroupeError('UNAVAILABLE', 'Cancelled'));
    await t.rejects(ending, { message: 'Cancelled' });
    t.throws(() => process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 0));
  });
});

t.test('With --serve-anyway', async (t) => {
  await t.test('the command is started behind what answers 502', async (t) => {
    const port = await listen(t, createServer(answering(502)));
    const { error, lines, cwd } = await serve(t, `http://127.0.0.1:${port}`, { anyway: true });
    t.match({ error, lines }, { error: null, lines: [] });
    await eventually('the command runs', () => existsSync(join(cwd, 'started')));
  });

  await t.test('a command that answers 404 is there', async (t) => {
    const port = await freePort();
    const script = server(port, '(_, a) => a.writeHead(404).end()');
    const { error, lines } = await serve(t, `http://127.0.0.1:${port}`, { script, anyway: true });
    t.match({ error, lines }, { error: null, lines: [] });
  });

  // The port is taken by what answers: the command cannot be what the flows would test.
  await t.test('a command that finds its port taken is missed', async (t) => {
    const port = await listen(t, createServer(answering(200)));
    const url = `http://127.0.0.1:${port}`;
    const { error, lines } = await serve(t, url, { script: server(port, '() => {}'), anyway: true });
    if (error === null) await eventually('it is said', () => lines.length > 0);
    t.match(error?.message ?? lines[0], /EADDRINUSE/);
  });
});

t.test('The address of `serve` is one of the web', async (t) => {
  const root = folderOf(t);
  writeFileSync(join(root, 'troupe-run.json'), '{"serve": {"command": "true", "url": "ftp://127.0.0.1/"}}');
  await t.rejects(readRunSettings(root), { code: 'INVALID_REQUEST', message: /troupe-run\.json is not valid/ });
});
