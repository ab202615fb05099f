import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { publishService } from '#troupe/cli/local-service/publish-service.js';
import { findService } from '#troupe/client/local-service/find-service.js';
import {
  readServiceFile,
  type ServiceFile,
  serviceFileOf,
  writeServiceFile,
} from '#troupe/client/local-service/service-file.js';
import { isProof, proofOf, randomWord } from '#troupe/client/local-service/service-proof.js';
import { agentHome } from '#troupe/config/environment.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { spawnService, startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

/** A program that answers every request with this, and remembers them. */
async function program(t: Test, answer: (url: URL, port: number) => object) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    asked.push(`${request.method} ${url.pathname} ${request.headers.authorization ?? ''}`.trim());
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(url, (server.address() as AddressInfo).port)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

t.test('A service is found by its file, proves itself, and takes the file along when it ends', async (t) => {
  const home = makeHome(t);
  const service = await startServiceProcess(t, home, '--stop-when-idle', '1');
  const found = await findService(home);
  t.match(found, { url: service.url, pid: service.child.pid });
  t.equal(statSync(serviceFileOf(home)).mode & 0o777, 0o600);
  const challenge = randomWord();
  const answer = await fetch(`${service.url}/api/proof?challenge=${challenge}`);
  const { proof } = (await answer.json()) as { proof: string };
  t.ok(isProof(proof, proofOf(found?.secret ?? '', Number(new URL(service.url).port), challenge)));
  for (const wrong of ['', 'short', `${challenge}a`, '%00'.repeat(43)]) {
    t.equal((await fetch(`${service.url}/api/proof?challenge=${wrong}`)).status, 400, wrong);
  }
  const code = await new Promise((resolve) => service.child.once('exit', resolve));
  t.equal(code, 0, 'nobody uses it, so it ends by itself');
  t.equal(await findService(home), null);
  t.throws(() => readFileSync(serviceFileOf(home)));
});

t.test('A service that is told to end while it waits for its home never offers itself to clients', async (t) => {
  const home = makeHome(t);
  const first = await startServiceProcess(t, home);
  const port = await freePort();
  const second = spawnService(home, '--port', String(port));
  t.teardown(() => second.end('SIGKILL'));
  const status = () =>
    fetch(`http://127.0.0.1:${port}/api/health`)
      .then((response) => response.status)
      .catch(() => 0);
  await eventually('it has its port, but not the home', async () => (await status()) === 503);
  const ended = second.end('SIGTERM');
  await first.end('SIGKILL');
  t.same(await ended, { code: 0, signal: null });
  t.match(second.output(), /SIGTERM: stopped before the service was ready/);
  t.notMatch(second.output(), /listens on/);
  t.equal((await readServiceFile(home))?.pid, first.child.pid, 'the file is still the first one’s');
});

t.test('What is not the service that wrote the file gets no token, and counts as absent', async (t) => {
  const secret = randomWord();
  const proofAt = (port: number, url: URL) => proofOf(secret, port, url.searchParams.get('challenge') ?? '');
  const impostors = {
    'a program that knows no secret': await program(t, () => ({ proof: randomWord() })),
    'one that answers the challenge': await program(t, (url) => ({ proof: url.searchParams.get('challenge') })),
    'one that passes it on to the service on another port': await program(t, (url) => ({ proof: proofAt(4444, url) })),
    'one that answers something else': await program(t, () => ({ proof: 5 })),
    'one that answers nothing': await program(t, () => ({})),
    'a list': await program(t, () => []),
  };
  const cases: [string, Partial<ServiceFile>][] = [
    ...Object.entries(impostors).map(([name, { url }]): [string, object] => [name, { url }]),
    ['another machine', { url: `http://192.0.2.7:${await freePort()}` }],
    ['a port where nothing listens', { url: `http://127.0.0.1:${await freePort()}` }],
  ];
  for (const [name, part] of cases) {
    const home = t.testdir();
    await writeServiceFile(home, { url: '', pid: process.pid, secret, version: '1', ...part });
    t.equal(await findService(home), null, name);
  }
  const real = await program(t, (url, port) => ({ proof: proofAt(port, url) }));
  const home = t.testdir();
  const file = { url: real.url, pid: process.pid, secret, version: '1' };
  await writeServiceFile(home, file);
  t.same(await findService(home), { ...file, home });
  await writeServiceFile(home, { ...file, pid: 2 ** 22 + 1 });
  t.equal(await findService(home), null, 'a process that has ended is not asked');
  const asked = [...Object.values(impostors), real].flatMap((one) => one.asked);
  t.same([...new Set(asked)], ['GET /api/proof']);
  t.equal(real.asked.length, 1);
});

t.test('A file that others can read or write is refused, and one that is not complete counts as none', async (t) => {
  const whole = { url: 'http://127.0.0.1:1', pid: process.pid, secret: randomWord(), version: '1' };
  for (const mode of [0o644, 0o640, 0o620, 0o602, 0o666, 0o777, 0o601]) {
    const home = t.testdir();
    await writeServiceFile(home, whole);
    chmodSync(serviceFileOf(home), mode);
    await t.rejects(
      findService(home),
      { code: 'UNAVAILABLE', message: /other users.*delete the file/ },
      mode.toString(8),
    );
  }
  const linked = t.testdir({ elsewhere: JSON.stringify(whole) });
  chmodSync(join(linked, 'elsewhere'), 0o600);
  symlinkSync(join(linked, 'elsewhere'), serviceFileOf(linked));
  await t.rejects(findService(linked), { code: 'UNAVAILABLE' }, 'a link to a file');
  const broken: unknown[] = [
    '',
    '{',
    '[]',
    'null',
    { ...whole, url: 'file:///etc/passwd' },
    { ...whole, url: 'http://user@127.0.0.1:1' },
    { ...whole, url: 'http://127.0.0.1:1/path' },
    { ...whole, pid: -1 },
    { ...whole, pid: 0 },
    { ...whole, pid: 1.5 },
    { ...whole, pid: '1' },
    { ...whole, secret: '' },
    { ...whole, secret: 'x'.repeat(44) },
    { ...whole, version: 1 },
    { ...whole, more: 'x'.repeat(5000) },
  ];
  for (const content of broken) {
    const home = t.testdir();
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(serviceFileOf(home), text, { mode: 0o600 });
    t.equal(await findService(home), null, text.slice(0, 80));
  }
  const asFolder = t.testdir({ 'service.json': {} });
  await t.rejects(findService(asFolder), { code: 'UNAVAILABLE' });
});

t.test('A service is published in the user’s folder too, unless another one runs there', async (t) => {
  const folder = t.testdir();
  const [home, other] = [join(folder, 'home'), join(folder, 'user')];
  const secret = randomWord();
  const first = await program(t, (url, port) => ({
    proof: proofOf(secret, port, url.searchParams.get('challenge') ?? ''),
  }));
  const service = { url: first.url, pid: process.pid, secret, version: '1' };
  const later = { ...service, secret: randomWord() };
  const withdraw = await publishService([home, other], service, t.comment);
  const withdrawLater = await publishService([join(folder, 'home2'), other], later, t.comment);
  t.same(await findService(other), { ...service, home: other, ownHome: home }, 'it says whose it is');
  await withdrawLater();
  t.same(
    await findService(other),
    { ...service, home: other, ownHome: home },
    'the later one removes only what is its own',
  );
  await withdraw();
  await withdraw();
  t.equal(await findService(other), null);
  // The proof holds for a port: on another address of the name it could be passed on (unslothai/unsloth#6479).
  const named = await publishService(
    [home],
    { ...service, url: first.url.replace('127.0.0.1', 'localhost') },
    t.comment,
  );
  t.equal((await readServiceFile(home))?.url, first.url, 'a name stands for one of its addresses');
  await named();
  mkdirSync(join(folder, 'file'), { recursive: true });
  writeFileSync(join(folder, 'file', 'x'), '');
  const said: string[] = [];
  await (await publishService([join(folder, 'file', 'x')], service, (line) => said.push(line)))();
  t.match(said, [/cannot find this service/]);
});

t.test('The home of agents is TROUPE_HOME or a folder of the user, never the current one', async (t) => {
  t.equal(agentHome({ TROUPE_HOME: '/x/y' }), '/x/y');
  t.equal(agentHome({ XDG_DATA_HOME: '/data' }), '/data/troupe');
  t.match(agentHome({}, 'linux'), /^\/.*\/\.local\/share\/troupe$/);
  t.match(agentHome({}, 'darwin'), /^\/.*\/Library\/Application Support\/troupe$/);
  t.match(agentHome({ TROUPE_HOME: '' }, 'linux'), /\/\.local\/share\/troupe$/);
});
