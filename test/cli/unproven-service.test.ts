import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { provenFetch } from '#troupe/client/local-service/find-service.js';
import { plainTokenWarning } from '#troupe/client/local-service/plain-token.js';
import { writeServiceFile } from '#troupe/client/local-service/service-file.js';
import { proofOf, randomWord } from '#troupe/client/local-service/service-proof.js';
import { ManualClock } from '../actors/manual-clock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { startCommandWith, startServiceProcess, startTypedCommand } from '../support/service-process.js';

guardLeaks(t);
// No browser of another kind is looked for.
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';
process.env.RUN_SECRET = 'the-secret-of-the-run';

const SOURCE = 'the-source-of-the-flow';
const TOKEN = 'troupe_the-token-of-the-user';
const SECRETS = [SOURCE, TOKEN, 'the-secret-of-the-run'];

/** What a program on the port was sent. */
interface Program {
  readonly port: number;
  readonly url: string;
  /** Method and path of each request. */
  readonly asked: string[];
  /** All bytes. */
  sent(): string;
}

/** A program that listens where a service might be. Everything that it is sent is kept. */
async function program(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Program> {
  const asked: string[] = [];
  let sent = '';
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
    sent += `${request.method} ${request.url}\n${request.rawHeaders.join('\n')}\n`;
    request.setEncoding('utf8').on('data', (text: string) => {
      sent += text;
    });
    void answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, asked, sent: () => sent };
}

/** Passes a request on to another service, and its answer back. */
async function relay(to: string, { method, url, headers }: IncomingMessage, response: ServerResponse) {
  try {
    const answer = await fetch(to + url, {
      ...(method === undefined ? {} : { method }),
      headers: headers.authorization === undefined ? {} : { authorization: headers.authorization },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  } catch {
    response.destroy();
  }
}

/** A home whose service would listen on the port, and a checkout with a flow. */
function homeAt(t: Test, port: number): string {
  const home = makeHome(t, { port });
  mkdirSync(join(home, 'flows'), { recursive: true });
  writeFileSync(join(home, 'flows', 'one.js'), `() => '${SOURCE}'.length;`);
  return home;
}

const withToken = { TROUPE_TOKEN: TOKEN };

async function command(env: { readonly [name: string]: string }, home: string, ...words: readonly string[]) {
  const { child, output } = startCommandWith({ TROUPE_URL: '', ...env }, home, ...words);
  const [code] = await once(child, 'close');
  return { code, output: output() };
}

/** A service that an agent's command started. */
async function endService(home: string): Promise<void> {
  const { pid } = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'));
  process.kill(pid, 'SIGTERM');
  await eventually('it has ended', () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

// A program listens while the service is stopped (SchmiedmayerLab/heartwood#162), and knows a real one to ask.
t.test(
  'No command sends anything but a request for the proof to a program that relays it to a service elsewhere',
  async (t) => {
    const real = await startServiceProcess(t, makeHome(t));
    const check = ({ asked, sent }: Program, name: string) => {
      t.same(asked, ['GET /api/proof'], name);
      for (const secret of SECRETS) t.notMatch(sent(), secret, name);
      t.notMatch(sent(), /authorization|cookie|content-length/i, name);
    };
    const stranger = () => program(t, (request, response) => relay(real.url, request, response));

    // Commands that need a service: they end, with one sentence.
    const one = 'flows/one.js';
    const ends: [words: string[], env?: { [name: string]: string }][] = [
      [['run', one, '--secret', 'RUN_SECRET', '--parallel', '1'], withToken],
      [['token', 'create', 'ci', '--role', 'run'], withToken],
      [['token', 'list'], withToken],
      [['token', 'revoke', 'abcdefabcdef'], withToken],
      [['nodes'], withToken],
      [['nodes', 'remove', 'two'], withToken],
      [['drain', 'one'], withToken],
      [['health'], withToken],
      [['nodes']],
      [['health']],
      [['why', 'abcdefabcdef'], withToken],
      [['eval', '--session', 'abcdefabcdef', SOURCE], withToken],
    ];
    for (const [words, env = {}] of ends) {
      const at = await stranger();
      const home = homeAt(t, at.port);
      const given = words.map((word) => (word === one ? join(home, one) : word));
      const { code, output } = await command(env, home, ...given);
      t.equal(code, 2, output);
      t.match(output, new RegExp(`${at.url} cannot prove that it is your service.* --url ${at.url}\\n`));
      check(at, words.join(' '));
    }

    // Without TROUPE_TOKEN, tokens are those of the home, and a run has a service of its own. As eval has, in any case.
    const goesOn: [words: string[], says: RegExp, env?: { [name: string]: string }][] = [
      [['token', 'create', 'me', '--role', 'admin'], /The tokens are those of .*\ntroupe_/s],
      [['run', one, '--secret', 'RUN_SECRET'], /service of its own is started.*1 passed/s],
      [['health', '--live'], /answers\n/, withToken],
      [['eval', `'${SOURCE}'`], /service of its own is started.*"the-source-of-the-flow"\n/s],
      [['eval', `'${SOURCE}'`], /service of its own is started.*"the-source-of-the-flow"\n/s, withToken],
    ];
    for (const [words, says, env = {}] of goesOn) {
      const at = await stranger();
      const home = homeAt(t, at.port);
      const given = words.map((word) => (word === one ? join(home, one) : word));
      const { code, output } = await command(env, home, ...given);
      t.equal(code, 0, output);
      t.match(output, says);
      if (words[0] !== 'health') t.match(output, `--url ${at.url}\n`);
      check(at, words.join(' '));
    }

    // What looks in the home's file alone: doctor, and the commands for agents and MCP, which start a service.
    const atFile = async (port: number, home: string) =>
      writeServiceFile(home, { url: `http://127.0.0.1:${port}`, pid: process.pid, secret: randomWord(), version: '1' });
    const doctored = await stranger();
    const doctorHome = homeAt(t, doctored.port);
    await atFile(doctored.port, doctorHome);
    t.match(await command(withToken, doctorHome, 'doctor'), { output: /Service of this home: not running/ });
    check(doctored, 'doctor');
    for (const words of [
      ['go', 'data:text/html,<p>here'],
      ['session', 'list'],
      ['session', 'create'],
    ]) {
      const at = await stranger();
      const home = homeAt(t, 0);
      await atFile(at.port, home);
      const { code, output } = await command(withToken, home, ...words);
      t.equal(code, 0, output);
      t.match(output, new RegExp(`--url ${at.url}\nStarted the service of ${home} at http:`));
      check(at, words.join(' '));
      t.match(await command(withToken, home, 'session', 'list'), {
        code: 0,
        output: `Using the service of ${home} at `,
      });
      await endService(home);
    }
    const mcpAt = await stranger();
    const mcpHome = homeAt(t, 0);
    await atFile(mcpAt.port, mcpHome);
    const mcp = startTypedCommand({ TROUPE_URL: '', ...withToken }, mcpHome, 'mcp');
    const call = { name: 'agent_eval', arguments: { js: `'${SOURCE}'` } };
    mcp.child.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })}\n`,
    );
    mcp.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    mcp.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })}\n`);
    await eventually('it answers', () => mcp.output().includes('"id":2'));
    mcp.child.stdin?.end();
    await once(mcp.child, 'close');
    t.match(mcp.output(), `--url ${mcpAt.url}\n`);
    check(mcpAt, 'mcp');
    await endService(mcpHome);
  },
);

// The suite's own processes ask, not a command.
t.test('troupe/playwright sends nothing either', async (t) => {
  const at = await program(t, (_, response) => response.end('{"status":"ok","capacity":{}}'));
  const home = homeAt(t, 0);
  await writeServiceFile(home, { url: at.url, pid: process.pid, secret: randomWord(), version: '1' });
  const create = "farm.create({ name: 'a', labels: {} }, {})";
  const output = await farmScript(
    home,
    withToken,
    `for (const _ of [1, 2]) await ${create}.catch((e) => console.log(e.message))`,
  );
  t.match(output, /cannot prove that it is your service.*use\.troupe\.url/, output);
  t.same(at.asked, ['GET /api/proof']);
  t.notMatch(at.sent(), /authorization|cookie/i);
});

// The answer itself is the attack, or is none.
t.test('Whatever the program answers, it is sent one request, and the command ends', async (t) => {
  const elsewhere = await program(t, (_, response) => response.end('{}'));
  const answers: { [how: string]: (request: IncomingMessage, response: ServerResponse) => unknown } = {
    'an answer of the health check': (_, response) => response.end('{"status":"ok","capacity":{"max":9}}'),
    'the challenge itself': ({ url }, response) =>
      response.end(JSON.stringify({ proof: new URL(url ?? '', 'http://x').searchParams.get('challenge') })),
    'a page': (_, response) => response.end('<h1>Welcome</h1>'),
    'a request for a password': (_, response) =>
      response.writeHead(401, { 'www-authenticate': 'Basic', 'set-cookie': 'a=b' }).end(),
    'a redirection': (_, response) => response.writeHead(307, { location: `${elsewhere.url}/api/proof` }).end(),
    'a failure': (_, response) => response.writeHead(502).end('bad gateway'),
    'no answer': () => undefined,
    'an end': (_, response) => response.destroy(),
    'an answer without an end': (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
  };
  for (const [how, answer] of Object.entries(answers)) {
    const at = await program(t, answer);
    const home = homeAt(t, at.port);
    const { code, output } = await command(withToken, home, 'token', 'list');
    t.equal(code, 2, `${how}: ${output}`);
    t.same(at.asked, ['GET /api/proof'], how);
    t.notMatch(at.sent(), /authorization|cookie/i, how);
  }
  t.same(elsewhere.asked, []);

  // No HTTP at all.
  const sockets = new Set<Socket>();
  let read = '';
  const other = createTcpServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        read += data;
        socket.end('SSH-2.0-OpenSSH_9.2\r\n');
      });
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  t.match(await command(withToken, homeAt(t, port), 'token', 'list'), { code: 2 });
  t.equal(read.match(/GET \/api\/proof/g)?.length, 1);
  t.notMatch(read, /authorization/i);
});

// Nothing is wrong: a real service has no file yet, and must not be taken for a stranger.
t.test('A service that starts is waited for until it has its file, or is gone', async (t) => {
  const secret = randomWord();
  let isReady = false;
  const at = await program(t, ({ url = '' }, response) => {
    if (!isReady) {
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'The service is starting', code: 'UNAVAILABLE' }));
      return;
    }
    const challenge = new URL(url, 'http://x').searchParams.get('challenge');
    const isProof = url.startsWith('/api/proof');
    response.end(JSON.stringify(isProof ? { proof: proofOf(secret, at.port, challenge ?? '') } : []));
  });
  const home = homeAt(t, at.port);
  const waits = startCommandWith({ TROUPE_URL: '', ...withToken }, home, 'token', 'list');
  const ended = once(waits.child, 'close');
  await eventually('it waits', () =>
    waits.output().includes(`Waiting for the service at ${at.url}, which is starting`),
  );
  t.same(at.asked, ['GET /api/proof']);
  // A health check does not wait.
  t.match(await command(withToken, home, 'health', '--live'), { code: 0, output: `${at.url} answers\n` });
  t.match(await command(withToken, home, 'health'), { code: 2, output: /is starting, or stopping/ });
  isReady = true;
  await writeServiceFile(home, { url: at.url, pid: process.pid, secret, version: '1' });
  t.same(await ended, [0, null], waits.output());
  t.match(waits.output(), `Using the service of ${home}`);
  t.match(at.sent(), TOKEN);

  const gone = createServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ error: 'The service is starting', code: 'UNAVAILABLE' }), () => gone.close());
  }).listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as AddressInfo;
  const { code, output } = await command(withToken, homeAt(t, port), 'token', 'list');
  t.equal(code, 0, output);
  t.match(output, /which is starting\nThe tokens are those of .*\nThere are no tokens/);
});

// The file is there, and its process number is another's by now (getpaseo/paseo#1304).
t.test('Where nothing answers all is as without a service; a file that is left over changes nothing', async (t) => {
  const port = await freePort();
  const home = homeAt(t, port);
  const file = { url: `http://127.0.0.1:${port}`, secret: randomWord(), version: '1' };
  // The process of the file ended; its number is now another's, which does not listen.
  for (const pid of [2 ** 22 + 1, process.pid]) {
    await writeServiceFile(home, { ...file, pid });
    const { code, output } = await command(withToken, home, 'token', 'list');
    t.equal(code, 0, output);
    t.match(output, /There are no tokens/);
    t.notMatch(output, /cannot prove/);
  }
});

t.test('A service that runs is found by its file, on whatever port; whose it is is printed', async (t) => {
  const home = homeAt(t, 0);
  const service = await startServiceProcess(t, home);
  const says = `Using the service of ${home} at ${service.url}\n`;
  for (const words of [
    ['run', join(home, 'flows/one.js'), '--secret', 'RUN_SECRET'],
    ['eval', '1 + 1'],
    ['token', 'list'],
    ['nodes'],
    ['health'],
    ['health', '--live'],
    ['session', 'list'],
  ]) {
    const { code, output } = await command({}, home, ...words);
    t.equal(code, 0, output);
    t.match(output, says, words.join(' '));
  }
  const created = await farmScript(
    home,
    { TEST_WORKER_INDEX: '0' },
    "const session = await farm.create({ name: 'a', labels: {} }, {}); console.log(await farm.viewOf(session)); await session.stop();",
  );
  t.match(created, says);
  t.match(created, new RegExp(`^${service.url}/`, 'm'));
  // From another folder it is the user's: XDG_DATA_HOME names where theirs is.
  const data = t.testdir({ troupe: {}, elsewhere: {} });
  const users = join(data, 'troupe');
  const { child } = service;
  const own = JSON.parse(readFileSync(join(home, 'service.json'), 'utf8'));
  await writeServiceFile(users, own);
  const { output } = await fromFolder(join(data, 'elsewhere'), { XDG_DATA_HOME: data }, 'health');
  t.match(output, says, 'its own home is named, not the folder in which it was found');
  // Files that others can read are not trusted.
  rmSync(join(home, 'service.json'));
  writeFileSync(join(home, 'service.json'), JSON.stringify(own), { mode: 0o644 });
  t.match(await command({}, home, 'health'), { code: 2, output: /can be read or written by other users/ });
  child.kill('SIGTERM');
  await once(child, 'close');
});

t.test('A service that is named is trusted; a token that others can read on the way is warned of', async (t) => {
  const service = await startServiceProcess(t, makeHome(t));
  const at = await program(t, (request, response) => relay(service.url, request, response));
  for (const [env, words] of [
    [withToken, ['token', 'list', '--url', at.url]],
    [{ ...withToken, TROUPE_URL: at.url }, ['token', 'list']],
  ] as const) {
    at.asked.splice(0);
    const { code } = await command(env, makeHome(t), ...words);
    t.equal(code, 0);
    t.notOk(at.asked.includes('GET /api/proof'));
  }
  t.match(at.sent(), TOKEN);
  const warned = await command(withToken, makeHome(t), 'token', 'list', '--url', 'http://troupe.invalid:4444');
  t.match(warned.output, /warning: The access token goes to troupe\.invalid unencrypted/);
  const none = await command({}, makeHome(t), 'token', 'list', '--url', 'http://troupe.invalid:4444');
  t.notMatch(none.output, /warning/);
  for (const url of [
    'http://10.0.0.7:4444',
    'http://[fe80::1]',
    'http://ci.example/troupe',
    'http://127.0.0.1.evil.example',
  ])
    t.match(plainTokenWarning(url), /unencrypted/, url);
  for (const url of ['https://ci.example', 'http://localhost:4444', 'http://127.3.2.1', 'http://[::1]:4444', 'no url'])
    t.equal(plainTokenWarning(url), null, url);
});

// The proof was right, and the service ended between it and the next request (kirodotdev/KiroCrew#9051).
t.test('A program that takes the port when the service ends gets nothing', async (t) => {
  const secret = randomWord();
  let knows = true;
  const at = await program(t, ({ url }, response) => {
    const challenge = new URL(url ?? '', 'http://x').searchParams.get('challenge') ?? '';
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ proof: knows ? proofOf(secret, at.port, challenge) : '' }));
  });
  const home = t.testdir();
  const file = { url: at.url, pid: process.pid, secret, version: '1' };
  await writeServiceFile(home, file);
  const clock = new ManualClock();
  const call = provenFetch({ ...file, home }, clock);
  const send = async () => (await call(`${at.url}/api/sessions`, { headers: { authorization: TOKEN } })).text();
  await send();
  t.same(at.asked, ['GET /api/sessions'], 'it has just proven itself');
  clock.advance(1_000);
  await send();
  t.same(at.asked.splice(0), ['GET /api/sessions', 'GET /api/proof', 'GET /api/sessions']);
  knows = false;
  clock.advance(1_000);
  await t.rejects(send(), { code: 'UNAVAILABLE', message: /no longer answers/ });
  t.ok(at.asked.every((line) => line === 'GET /api/proof'));
});

/** Runs a script with `farm`, the service as a worker of Playwright has it. */
async function farmScript(home: string, env: { readonly [name: string]: string }, script: string): Promise<string> {
  const farm = new URL('../../dist/playwright-test/farm.js', import.meta.url).href;
  const source = `const { Farm } = await import('${farm}'); const farm = new Farm({}); ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: { ...process.env, TROUPE_URL: '', TROUPE_HOME: home, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'close');
  return output;
}

async function fromFolder(cwd: string, env: { readonly [name: string]: string }, ...words: readonly string[]) {
  const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
  const { TROUPE_HOME: _, ...rest } = process.env;
  const child = spawn(process.execPath, [cli, ...words], { cwd, env: { ...rest, TROUPE_URL: '', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}
