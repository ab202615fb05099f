import { EventEmitter, on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { Journal } from '#troupe/journal/journal.js';
import type { JournalEvent } from '#troupe/protocol/events.js';
import { acceptedRecord, newSessionId } from '#troupe/supervisor/sessions/session-record.js';
import { Outbox } from '#troupe/webhooks/outbox.js';
import { sendMessage } from '#troupe/webhooks/send-message.js';
import { type TargetRuleOptions, targetFault, targetRule } from '#troupe/webhooks/webhook-target.js';
import { ManualClock } from '../actors/manual-clock.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';

guardLeaks(t);

const OWN = 4444;
const closed = (more: Partial<TargetRuleOptions> = {}) =>
  targetRule({ ownPort: OWN, allow: [], egress: {}, isOpen: () => false, ...more });

const LOOPBACK = [
  '127.0.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '0.0.0.0',
  '0',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'shop.localhost',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  'user:word@127.0.0.1',
];
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fe80::1]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
];

t.test('Loopback is closed in every spelling, where the service asks for tokens and nothing names it', async (t) => {
  for (const host of LOOPBACK) {
    for (const url of [`http://${host}/`, `https://${host}:22/x`, `http://${host}:6379/`]) {
      t.match(targetFault(new URL(url), closed()), /address of this machine.*webhooks\.allow/, url);
      t.equal(targetFault(new URL(url), closed({ isOpen: () => true })), null, url);
    }
  }
});

t.test('The service itself and metadata are closed, whatever is open or named', async (t) => {
  const every = ['0.0.0.0/0', '::/0', 'localhost', '*.localhost', '127.0.0.0/8', '169.254.0.0/16', `127.0.0.1:${OWN}`];
  for (const rule of [
    closed(),
    closed({ allow: every }),
    closed({ isOpen: () => true, allow: every, egress: { allow: every } }),
  ]) {
    for (const host of LOOPBACK) {
      t.match(targetFault(new URL(`http://${host}:${OWN}/api/jobs`), rule), /the service itself/, host);
    }
    for (const host of METADATA) t.match(targetFault(new URL(`http://${host}/`), rule), /metadata/, host);
  }
});

t.test('webhooks.allow names hosts, addresses, ranges, and a port where it says one', async (t) => {
  const cases: readonly [entry: string, open: readonly string[], shut: readonly string[]][] = [
    ['localhost', ['localhost:1', 'LOCALHOST.:2'], ['127.0.0.1:1', 'x.localhost:1']],
    ['127.0.0.1', ['127.0.0.1:1', '127.1:2', 'localhost:1', '[::ffff:127.0.0.1]:1'], ['127.0.0.2:1', '[::1]:1']],
    ['127.0.0.1:8080', ['127.0.0.1:8080', '2130706433:8080'], ['127.0.0.1:8081', '127.0.0.2:8080', '[::1]:8080']],
    ['[::1]:8080', ['[::1]:8080', '[0:0::1]:8080'], ['[::1]:80', '127.0.0.1:8080']],
    ['::1', ['[::1]:8080'], ['127.0.0.1:8080']],
    ['127.0.0.0/8', ['127.9.9.9:5', 'localhost:5'], ['[::1]:5']],
    ['*.localhost', ['a.localhost:1'], ['localhost:1']],
    ['localhost:80', ['localhost:80'], ['localhost:81']],
    ['127.0.0.1:80', ['127.0.0.1'], ['127.0.0.1:81']],
    ['10.0.0.0/8', [], ['127.0.0.1:1', 'localhost:1']],
  ];
  for (const [entry, open, shut] of cases) {
    const rule = closed({ allow: [entry] });
    for (const host of open) t.equal(targetFault(new URL(`http://${host}/`), rule), null, `${entry}: ${host}`);
    for (const host of shut) t.ok(targetFault(new URL(`http://${host}/`), rule), `${entry}: ${host}`);
  }
});

t.test('Private and public places stay open, but for what egress closes', async (t) => {
  for (const host of ['10.0.0.7', '192.168.1.1:8080', '172.16.5.5', '[fd12::1]', '192.0.2.1', 'ci.test']) {
    t.equal(targetFault(new URL(`http://${host}/`), closed()), null, host);
  }
  const denying = closed({ egress: { deny: ['10.0.0.0/8'] } });
  t.match(targetFault(new URL('http://10.0.0.7/'), denying), /egress closes it.*webhooks\.allow/);
  t.equal(
    targetFault(new URL('http://10.0.0.7/'), closed({ egress: { deny: ['10.0.0.0/8'] }, allow: ['10.0.0.7'] })),
    null,
  );
});

/** A name that leads where the test says; nothing is connected to but 127.0.0.1. */
function send(url: string, addresses: readonly string[], rule = closed()) {
  return sendMessage(
    new URL(url),
    { headers: {}, body: '{}' },
    {
      rule,
      signal: new AbortController().signal,
      timeoutMs: 5_000,
      lookUp: (_, answer) =>
        answer(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        ),
    },
  );
}

t.test('A name is judged by every address that it leads to', async (t) => {
  const receiver = await startReceiver(t);
  const { port } = new URL(receiver.url);
  for (const addresses of [
    ['127.0.0.1'],
    ['::1'],
    ['0.0.0.0'],
    ['::ffff:127.0.0.1'],
    ['127.0.0.1', '192.0.2.1'],
    ['192.0.2.1', '127.0.0.1'],
    ['169.254.169.254'],
    ['127.0.0.1', '169.254.169.254'],
    ['fd00:ec2::254'],
    ['64:ff9b::7f00:1'],
  ]) {
    t.match(await send(`http://harmless.test:${port}/`, addresses), { kind: 'refused' }, String(addresses));
  }
  t.equal(receiver.received.length, 0);
  const named = closed({ allow: [`harmless.test:${port}`] });
  t.match(await send(`http://harmless.test:${port}/`, ['127.0.0.1'], named), { kind: 'taken' });
  t.match(await send(`http://harmless.test:${port}/`, ['127.0.0.1', '169.254.169.254'], named), { kind: 'refused' });
});

t.test('The service is not reached when only the connection shows that it is the service', async (t) => {
  const receiver = await startReceiver(t);
  const { port } = new URL(receiver.url);
  const rule = closed({ ownPort: Number(port), isOpen: () => true });
  // As if the address were one that the rules do not know for this machine's.
  const blind = { ...rule, refusal: () => null };
  t.same(await send(receiver.url, [], blind), { kind: 'refused', why: 'it is the service itself' });
  t.same(await send(`http://x.test:${port}/`, ['127.0.0.1'], blind), {
    kind: 'refused',
    why: 'it is the service itself',
  });
  t.equal(receiver.received.length, 0);
});

t.test('A fault says the same, whatever it was', async (t) => {
  const rule = closed({ isOpen: () => true });
  const gone = await startReceiver(t);
  await gone.close();
  const talks = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('SSH-2.0-OpenSSH\r\n');
  });
  const hangs = createServer((socket) => socket.on('error', () => undefined).destroy());
  const ports = await Promise.all(
    [talks, hangs].map(
      (server) =>
        new Promise<number>((resolve) => {
          t.teardown(() => server.close());
          server.listen(0, '127.0.0.1', () => resolve(Number(Reflect.get(Object(server.address()), 'port'))));
        }),
    ),
  );
  const plain = await startReceiver(t);
  const urls = [
    gone.url,
    gone.url.replace('http:', 'https:'),
    ...ports.flatMap((port) => [`http://127.0.0.1:${port}/`, `https://127.0.0.1:${port}/`]),
    plain.url.replace('http:', 'https:'),
  ];
  const ends = await Promise.all(urls.map((url) => send(url, [], rule)));
  const noName = await sendMessage(
    new URL('http://nowhere.test/'),
    { headers: {}, body: '{}' },
    {
      rule,
      signal: new AbortController().signal,
      timeoutMs: 5_000,
      lookUp: (_, answer) => answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []),
    },
  );
  for (const end of [...ends, noName]) {
    t.same(end, { kind: 'failed', why: 'it could not be reached, or gave no answer in time' });
  }
});

/** An outbox as a service has it; whether it is open is asked at each try. */
async function openOutbox(t: Test, options: Partial<TargetRuleOptions>) {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-outbox-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const journal = await Journal.open({ file: join(dir, 'troupe.db') });
  t.teardown(() => journal.close());
  const vault = await RequestVault.open(join(dir, 'troupe.key'));
  const clock = new ManualClock();
  const happened = new EventEmitter();
  const said: string[] = [];
  const log = (line: string) => void said.push(line);
  const outbox = new Outbox({ journal, vault, clock, log, secret: 'x', rule: closed(options), random: () => 0 });
  const running = outbox.run(async function* ({ signal }) {
    try {
      for await (const [event] of on(happened, 'event', { signal })) yield event as JournalEvent;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  t.teardown(async () => {
    await outbox.close();
    await running;
  });
  const defaults = { maxIterations: 0, model: null, publicUrl: undefined, now: new Date(), batch: undefined };
  const record = acceptedRecord(newSessionId(), { mode: 'auto', prompt: 'x' }, defaults);
  const tell = async (url: string) => {
    await journal.write({ keyValues: outbox.entries(record, url, 'ended') });
    happened.emit('event', { type: 'SessionEnded', sessionId: record.id });
  };
  return { outbox, record, tell, said, clock };
}

t.test(
  'A message that waited while the service was open fails visibly once it is closed, and can be sent again',
  async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer = (response) => void response.writeHead(503).end();
    let open = true;
    const { outbox, record, tell, said, clock } = await openOutbox(t, { isOpen: () => open });
    const state = async () => (await outbox.list(record.id))[0];
    await tell(receiver.url);
    await eventually('it was tried', async () => (await state())?.attempts === 1);
    t.match(await state(), { state: 'waiting', lastError: 'it answered 503' });
    open = false;
    clock.advance(6_000);
    await eventually('it was refused', async () => (await state())?.state === 'failed');
    t.match(await state(), { attempts: 2, lastError: /webhooks\.allow/ });
    t.match(said, [/webhooks\.allow/]);
    t.equal(receiver.received.length, 1);
    open = true;
    receiver.answer = (response) => void response.end();
    await outbox.replay(record.id, 'ended');
    await eventually('it is delivered', async () => (await state())?.state === 'delivered');
  },
);

t.test('A service with a token takes no webhook of this machine unless webhooks.allow names it', async (t) => {
  process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';
  const receiver = await startReceiver(t);
  const task = { prompt: 'x', flowFiles: ['examples/search.js'], maxIterations: 0 };
  const home = makeHome(t, {
    webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET',
    webhooks: { allow: [new URL(receiver.url).host] },
  });
  const service = await startTestService(t, {}, home);
  const other = 'http://127.0.0.1:9/hook';
  const { status, body } = await service.call('POST', '/api/tokens', { name: 'ci', role: 'admin' });
  t.equal(status, 201);
  const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' };
  const submit = (webhook: string) => service.call('POST', '/api/jobs', { ...task, webhook }, { headers });
  t.match(await submit(other), { status: 400, body: { error: /webhook: .*webhooks\.allow/ } });
  t.match(await submit(`${service.url}/api/jobs`), { status: 400, body: { error: /the service itself/ } });
  t.match(await submit(receiver.url), { status: 201 });
  await receiver.until(1);
});
