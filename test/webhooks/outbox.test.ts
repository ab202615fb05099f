import { createHmac } from 'node:crypto';
import { EventEmitter, on } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { Journal } from '#troupe/journal/journal.js';
import { BatchId, type BatchOutcome } from '#troupe/protocol/batches/batch.js';
import type { JournalEvent } from '#troupe/protocol/events.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { acceptedRecord, newSessionId } from '#troupe/supervisor/sessions/session-record.js';
import { Outbox, type OutboxParts } from '#troupe/webhooks/outbox.js';
import { sendMessage } from '#troupe/webhooks/send-message.js';
import { slackBatchMessage } from '#troupe/webhooks/slack-message.js';
import { targetFault, targetRule } from '#troupe/webhooks/webhook-target.js';
import { ManualClock } from '../actors/manual-clock.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace, usesPostgres } from '../support/test-store.js';
import { type Received, type Receiver, startReceiver } from './receiver.js';

guardLeaks(t);

const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0';

/** An outbox on a disk of its own, with a clock that stands still. */
async function openOutbox(t: Test, more: Partial<OutboxParts> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-outbox-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'troupe.db');
  const journal = await Journal.open(await journalPlace(t, file));
  t.teardown(() => journal.close());
  const vault = await RequestVault.open(join(dir, 'troupe.key'));
  const clock = new ManualClock();
  const said: string[] = [];
  const start = (over: Partial<OutboxParts> = {}) => {
    const happened = new EventEmitter();
    const outbox = new Outbox({
      journal,
      vault,
      clock,
      log: (line) => said.push(line),
      secret: SECRET,
      rule: targetRule({ ownPort: 1, allow: [], egress: {}, isOpen: () => true }),
      random: () => 0,
      ...more,
      ...over,
    });
    const running = outbox.run(({ signal }) => events(happened, signal));
    const stop = async () => {
      await outbox.close();
      await running;
    };
    t.teardown(stop);
    return {
      outbox,
      stop,
      /** As a session does at its end: to disk in one write, then shown. */
      async tell(record: SessionRecord, url: string, moment: 'started' | 'ended' = 'ended', format?: 'slack') {
        const type = moment === 'ended' ? 'SessionEnded' : 'SessionStarted';
        await journal.write({ keyValues: outbox.entries(record, url, moment, format) });
        happened.emit('event', { type, sessionId: record.id } as JournalEvent);
      },
    };
  };
  return { file, journal, clock, said, start };
}

async function* events(happened: EventEmitter, signal: AbortSignal): AsyncGenerator<JournalEvent> {
  try {
    for await (const [event] of on(happened, 'event', { signal })) yield event;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function failedRecord(): SessionRecord {
  const defaults = { maxIterations: 0, model: null, publicUrl: undefined, now: new Date(), batch: undefined };
  const record = acceptedRecord(newSessionId(), { mode: 'auto', prompt: 'x' }, defaults);
  return { ...record, status: 'failed', state: 'failed' };
}

function isSigned({ headers, body }: Received): boolean {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

t.test('A message arrives whole and signed, and its address is closed on disk', async (t) => {
  const { start, file, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const { outbox, tell } = start();
  const record = failedRecord();
  await tell(record, `${receiver.url}?key=hidden-key`);
  await receiver.until(1);
  const [message] = receiver.received;
  if (message === undefined) return void t.fail('nothing came');
  t.ok(isSigned(message));
  t.match(message.headers, { 'content-type': 'application/json', 'webhook-id': `${record.id}_ended` });
  t.match(JSON.parse(message.body), { type: 'session.failed', timestamp: /Z$/, data: { id: record.id } });
  await eventually('it is noted', async () => (await outbox.list(record.id))[0]?.state === 'delivered');
  await journal.close();
  if (!usesPostgres) t.notOk(readFileSync(file, 'latin1').includes('hidden-key'));
});

t.test('Slack gets one message at the end: the flow that failed, the cause, counts, and a link', async (t) => {
  const { start } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const { tell } = start();
  const failed = failedRecord();
  const cause = {
    code: 'MATCH_FAILED',
    error: '<!channel> & more\nsecond line',
    details: { flow: 'shop/pay', line: 5 },
  };
  const record: SessionRecord = {
    ...failed,
    name: 'checkout',
    flowFiles: ['login.js', 'shop/pay.js'],
    labels: { branch: 'main' },
    attempt: 2,
    startedAt: '2026-01-01T12:00:00.000Z',
    endedAt: '2026-01-01T12:00:12.500Z',
    error: { code: 'FLOW_FAILED', error: 'shop/pay failed', details: { flow: 'shop/pay', cause } },
    links: { ...failed.links, view: 'https://troupe.example/view' },
  };
  await tell(record, receiver.url, 'started', 'slack');
  await tell(record, receiver.url, 'ended', 'slack');
  await receiver.until(1);
  const [message] = receiver.received;
  if (message === undefined) return void t.fail('nothing came');
  t.match(message.headers, { 'webhook-id': `${record.id}_ended` }, 'nothing is sent at the start');
  t.same(JSON.parse(message.body), {
    text: 'checkout failed: MATCH_FAILED: &lt;!channel&gt; &amp; more',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: ':x: checkout failed', emoji: true } },
      { type: 'section', text: { type: 'mrkdwn', text: '*shop/pay:5*\nMATCH_FAILED: &lt;!channel&gt; &amp; more' } },
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: `2 flows · Failed in 12.5 s after shop/pay.js:5: MATCH_FAILED (attempt 2 of 2) · branch main · session ${record.id}`,
          },
        ],
      },
      { type: 'section', text: { type: 'mrkdwn', text: '<https://troupe.example/view|Open the session>' } },
    ],
  });
});

t.test('A receiver that is down gets the message when it is there again, also from the next service', async (t) => {
  const { start, clock } = await openOutbox(t);
  const gone = await startReceiver(t);
  await gone.close();
  const first = start();
  const record = failedRecord();
  await first.tell(record, gone.url);
  const state = async () => (await first.outbox.list(record.id))[0];
  await eventually('a try failed', async () => (await state())?.attempts === 1);
  t.match(await state(), { state: 'waiting', lastError: /could not be reached/ });
  clock.advance(4_900);
  t.match(await state(), { attempts: 1 }, 'it waits 5 s');
  clock.advance(200);
  await eventually('another failed', async () => (await state())?.attempts === 2);
  await first.stop();
  const back = await startReceiver(t, Number(new URL(gone.url).port));
  const second = start();
  clock.advance(30_000);
  await back.until(1);
  t.ok(back.received.every(isSigned));
  await eventually('it is noted', async () => (await second.outbox.list(record.id))[0]?.state === 'delivered');
});

t.test(
  'A receiver that is slow, lies, or redirects costs its own messages a try each, and others nothing',
  async (t) => {
    const { start } = await openOutbox(t, { answerMs: 600_000 });
    const [slow, liar, elsewhere, good] = await Promise.all([0, 0, 0, 0].map(() => startReceiver(t)));
    if (!slow || !liar || !elsewhere || !good) return void t.fail('there are four');
    const held: ServerResponse[] = [];
    slow.answer = (response) => void held.push(response);
    liar.answer = (response) => void response.socket?.end('HTTP/9.9 yes\r\n\r\n');
    elsewhere.answer = (response) => void response.writeHead(307, { location: good.url }).end();
    const { outbox, tell } = start();
    const [one, two, three] = [failedRecord(), failedRecord(), failedRecord()];
    // More than may be on their way to one receiver.
    for (let count = 0; count < 6; count += 1) await tell(failedRecord(), slow.url);
    await tell(one, slow.url);
    await tell(two, liar.url);
    await tell(three, elsewhere.url);
    const last = failedRecord();
    await tell(last, good.url);
    await good.until(1);
    // It did not wait for the slow one, whose connections are open.
    slow.answer = (response) => void response.socket?.destroy();
    for (const response of held) response.socket?.destroy();
    t.match(good.received[0]?.headers, { 'webhook-id': `${last.id}_ended` });
    for (const record of [one, two, three]) {
      await eventually('a try failed', async () => (await outbox.list(record.id))[0]?.attempts === 1);
    }
    t.match(await outbox.list(three.id), [{ lastError: 'it answered 307', state: 'waiting' }]);
    t.match(await outbox.list(one.id), [{ lastError: /could not be reached/ }]);
    t.equal(good.received.length, 1, 'the redirect was not followed');
  },
);

t.test('Of an answer its status counts, and nothing that follows it', async (t) => {
  const { start } = await openOutbox(t, { answerMs: 500 });
  const { outbox, tell } = start();
  const says =
    (text: string): Receiver['answer'] =>
    (response) =>
      void response.socket?.write(text);
  const cases: readonly [what: string, answer: Receiver['answer'], outcome: object][] = [
    [
      'a body without end',
      (response) => void response.writeHead(200).write('x'.repeat(100_000)),
      { state: 'delivered' },
    ],
    ['a body that is cut', says('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nand'), { state: 'delivered' }],
    ['half a status', says('HTTP/1.1 2'), { state: 'waiting', lastError: /could not be reached/ }],
    [
      'headers without end',
      says(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
      { lastError: /could not be reached/ },
    ],
    ['no word in time', () => undefined, { state: 'waiting', lastError: /could not be reached/ }],
    ['no word', (response) => void response.socket?.destroy(), { state: 'waiting', lastError: /could not be reached/ }],
  ];
  await Promise.all(
    cases.map(async ([what, answer, outcome]) => {
      const receiver = await startReceiver(t);
      receiver.answer = answer;
      const record = failedRecord();
      await tell(record, receiver.url);
      const state = async () => (await outbox.list(record.id))[0];
      await eventually(what, async () => (await state())?.attempts === 1);
      t.match(await state(), outcome, what);
    }),
  );
});

t.test('After the last wait, or at 410, it is given up; by hand it is sent again', async (t) => {
  const { start, clock, said } = await openOutbox(t);
  const receiver = await startReceiver(t);
  receiver.answer = (response) => void response.writeHead(500).end();
  const { outbox, tell } = start();
  const record = failedRecord();
  await tell(record, receiver.url);
  for (let attempts = 1; attempts <= 11; attempts += 1) {
    await eventually(`try ${attempts}`, async () => (await outbox.list(record.id))[0]?.attempts === attempts);
    clock.advance(43_200_000);
  }
  t.match(await outbox.list(record.id), [
    { state: 'failed', attempts: 11, nextAt: null, lastError: 'it answered 500' },
  ]);
  t.equal(said.length, 1);
  receiver.answer = (response) => void response.writeHead(410).end();
  await outbox.replay(record.id, undefined);
  await eventually('410', async () => (await outbox.list(record.id))[0]?.lastError?.includes('410') === true);
  receiver.answer = (response) => void response.end();
  t.same(await outbox.replay(record.id, 'started'), await outbox.list(record.id), 'there is no such message');
  await outbox.replay(record.id, 'ended');
  await eventually('delivered', async () => (await outbox.list(record.id))[0]?.state === 'delivered');
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
});

t.test('A session that is removed takes its messages with it', async (t) => {
  const { start, clock, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  receiver.answer = (response) => void response.writeHead(503).end();
  const { outbox, tell } = start();
  const record = failedRecord();
  await tell(record, receiver.url);
  await eventually('a try failed', async () => (await outbox.list(record.id))[0]?.attempts === 1);
  await journal.remove(record.id);
  clock.advance(60_000);
  t.same(await outbox.list(record.id), []);
  t.equal(receiver.received.length, 1);
});

t.test('Where clouds keep credentials, and the service itself, nothing is sent', async (t) => {
  const rule = targetRule({ ownPort: 4444, allow: [], egress: {}, isOpen: () => true });
  for (const url of [
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://127.0.0.1:4444/api/sessions',
    'http://localhost:4444/',
    'http://[::1]:4444/',
    'ftp://ci.test/',
    'file:///etc/passwd',
  ]) {
    t.ok(targetFault(new URL(url), rule), url);
  }
  for (const url of ['http://127.0.0.1:4445/', 'https://ci.test/', 'http://10.0.0.7/']) {
    t.equal(targetFault(new URL(url), rule), null, url);
  }
  const leadsTo = (...addresses: string[]) =>
    sendMessage(
      new URL('http://harmless.test/'),
      { headers: {}, body: '{}' },
      {
        rule,
        signal: new AbortController().signal,
        timeoutMs: 1_000,
        lookUp: (_, answer) =>
          answer(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          ),
      },
    );
  t.same(await leadsTo('169.254.169.254'), { kind: 'refused', why: 'it is a metadata address' });
  t.same(await leadsTo('127.0.0.1', '169.254.169.254'), { kind: 'refused', why: 'it is a metadata address' });
  t.match(await leadsTo('127.0.0.1'), { kind: 'failed' }, 'nothing listens there');
});

/** A journal that fails as often as it is told to. */
function failing({ journal }: { readonly journal: Pick<Journal, 'write' | 'keyValues'> }) {
  const left = { reads: 0, writes: 0 };
  const orFail = <T>(what: 'reads' | 'writes', work: () => Promise<T>): Promise<T> => {
    if (left[what] === 0) return work();
    left[what] -= 1;
    return Promise.reject(new Error('the disk is busy'));
  };
  return {
    left,
    journal: {
      keyValues: (...args: Parameters<Journal['keyValues']>) => orFail('reads', () => journal.keyValues(...args)),
      write: (...args: Parameters<Journal['write']>) => orFail('writes', () => journal.write(...args)),
    },
  };
}

t.test('A fault of the journal while messages are taken up is waited out, and all of them are sent', async (t) => {
  const { start, clock, said, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const faulty = failing({ journal });
  faulty.left.reads = 3;
  const { tell } = start({ journal: faulty.journal });
  await tell(failedRecord(), receiver.url);
  await eventually('it waits and begins anew', async () => {
    clock.advance(60_000);
    return receiver.received.length > 0;
  });
  faulty.left.reads = 1;
  await tell(failedRecord(), receiver.url);
  await eventually('it does so also later', async () => {
    clock.advance(60_000);
    return new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size === 2;
  });
  t.match(
    said.filter((line) => line.includes('webhooks pause')).map((line) => /pause for (\d+) s/.exec(line)?.[1]),
    ['1', '2', '4'],
  );
});

t.test('A fault of the journal while a message is sent costs a wait, and not the message', async (t) => {
  const { start, clock, said, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const faulty = failing({ journal });
  const { outbox, tell } = start({ journal: faulty.journal });
  receiver.answer = (response) => {
    // While its answer is noted.
    faulty.left.writes = said.length < 2 ? 1 : 0;
    response.end();
  };
  const record = failedRecord();
  await tell(record, receiver.url);
  await eventually('it is noted', async () => {
    clock.advance(60_000);
    return (await outbox.list(record.id))[0]?.state === 'delivered';
  });
  t.match(said, [/sent again in 1 s/, /sent again in 2 s/]);
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
});

t.test('A message that is damaged on disk counts as failed, and those beside it are sent', async (t) => {
  const { start, said, journal, clock } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const [damaged, well] = [failedRecord(), failedRecord()];
  const first = start();
  const [kept] = first.outbox.entries(well, receiver.url, 'ended');
  await first.stop();
  const data: unknown = { ...(kept?.data as object), nextAt: 'soon' };
  await journal.write({ keyValues: [{ kind: 'delivery', id: `${damaged.id}/ended`, data }] });
  await journal.write({ keyValues: [{ kind: 'delivery', id: 'of nobody', data: 1 }] });
  await journal.write({ keyValues: kept === undefined ? [] : [kept] });
  const { outbox } = start();
  clock.advance(1);
  await receiver.until(1);
  t.match(receiver.received[0]?.headers, { 'webhook-id': `${well.id}_ended` });
  t.match(await outbox.list(damaged.id), [{ moment: 'ended', state: 'failed', lastError: /damaged/, nextAt: null }]);
  t.same(
    (await journal.keyValues('delivery')).filter(({ id }) => !id.startsWith(well.id)),
    [],
  );
  t.equal(said.filter((line) => line.includes('damaged')).length, 2);
  const again = start();
  t.match(await again.outbox.list(damaged.id), [{ state: 'failed' }]);
});

t.test('Messages go with their session, with their batch, and when their session is gone', async (t) => {
  const { start, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const { outbox } = start();
  const inBatch = { ...failedRecord(), batch: 'b1' };
  const alone = failedRecord();
  const kept = failedRecord();
  const gone = failedRecord();
  for (const record of [inBatch, alone, kept, gone]) {
    const records = record === gone ? [] : [{ record, request: null, lease: null }];
    const [entry] = outbox.entries(record, receiver.url, 'ended');
    const data = { ...(entry?.data as object), state: 'delivered', nextAt: null };
    await journal.write({ records, keyValues: [{ kind: 'delivered', id: `${record.id}/ended`, data }] });
  }
  const left = async () => new Set((await journal.keyValues('delivered')).map(({ id }) => id.split('/')[0]));
  await journal.removeBatch('b1');
  t.same(await left(), new Set([alone.id, kept.id, gone.id]));
  await journal.remove(alone.id);
  await journal.prune({ runsBefore: '', batchesBefore: '', joinedBefore: '' });
  t.same(await left(), new Set([kept.id]));
});

function endedBatch(more: Partial<BatchOutcome> = {}): BatchOutcome {
  return {
    id: BatchId.parse('abcdefabcdef'),
    name: 'nightly <main>',
    labels: { branch: 'main' },
    state: 'failed',
    parallel: null,
    counts: { total: 60, queued: 0, running: 0, completed: 38, flaky: 1, failed: 20, stopped: 2 },
    createdAt: '2026-01-01T12:00:00.000Z',
    endedAt: '2026-01-01T12:01:30.000Z',
    links: { self: '', jobs: '', events: '', junit: '', download: 'https://troupe.example/api/batches/x/download' },
    flaky: [{ id: 'f', name: 'shop/search', view: 'https://troupe.example/#/sessions/f' }],
    failures: Array.from({ length: 20 }, (_, index) => ({
      id: `s${index}`,
      name: `shop/pay-${index} | <x>`,
      view: `https://troupe.example/#/sessions/s${index}`,
      code: 'MATCH_FAILED',
      message: `${'<!channel> '.repeat(index)}wrong`,
      flow: 'shop/pay',
      line: 5,
    })),
    ...more,
  };
}

t.test('The message about a batch is stored once, arrives signed, and is repeated by hand only', async (t) => {
  const { start, journal } = await openOutbox(t);
  const receiver = await startReceiver(t);
  const first = start();
  const outcome = endedBatch();
  await first.outbox.sendBatchEnd(outcome, receiver.url);
  await receiver.until(1);
  await eventually('it is noted', async () => (await first.outbox.list(outcome.id))[0]?.state === 'delivered');
  await first.outbox.sendBatchEnd(outcome, receiver.url);
  await first.stop();
  const second = start();
  await second.outbox.sendBatchEnd(outcome, receiver.url);
  await second.outbox.replay(outcome.id, undefined);
  await receiver.until(2);
  t.ok(receiver.received.every(isSigned));
  t.same(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [`${outcome.id}_ended`, `${outcome.id}_ended`],
  );
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), { type: 'batch.failed', data: { counts: { failed: 20 } } });
  await eventually('it is noted', async () => (await second.outbox.list(outcome.id))[0]?.state === 'delivered');
  await second.stop();
  const row = { id: outcome.id, createdAt: new Date().toISOString() };
  await journal.write({ keyValues: [{ kind: 'batch', id: outcome.id, data: row }] });
  await journal.prune({ runsBefore: '', batchesBefore: '', joinedBefore: '' });
  t.equal((await journal.keyValues('delivered')).length, 1, 'it stays as long as its batch');
  await journal.removeBatch(outcome.id);
  t.same(await journal.keyValues('delivered'), []);
});

t.test('Slack gets the failed and flaky jobs of a batch by name, the counts, and links', async () => {
  const message = JSON.stringify(slackBatchMessage(endedBatch()));
  const { text, blocks } = JSON.parse(message);
  t.equal(
    text,
    'nightly &lt;main&gt; failed: 20 failed · 38 passed (1 flaky) · 2 stopped · of 60',
    'a notification has the counts',
  );
  const [header, failed, flaky, facts, link] = blocks;
  t.equal(blocks.length, 5);
  t.match(header.text, { type: 'plain_text', text: ':x: nightly <main> failed' });
  const lines = failed.text.text.split('\n');
  t.equal(
    lines[1],
    '• <https://troupe.example/#/sessions/s0|shop/pay-0 ¦ &lt;x&gt;> at shop/pay:5: MATCH_FAILED: wrong',
  );
  t.match(lines.at(-1), /^and \d+ more$/);
  t.equal(lines.length - 2 + Number(/\d+/.exec(lines.at(-1))?.[0]), 20);
  t.ok(failed.text.text.length <= 3_000);
  t.notMatch(failed.text.text, '<!channel');
  t.equal(flaky.text.text, '*Flaky*\n<https://troupe.example/#/sessions/f|shop/search>');
  t.match(facts.elements[0].text, /^20 failed · .* · 1 min 30 s · branch main · run abcdefabcdef$/);
  t.match(link.text.text, '|Download the reports>');
  const passed = slackBatchMessage(endedBatch({ state: 'completed', failures: [], flaky: [] }));
  t.equal(Object(passed).blocks.length, 3);
});
