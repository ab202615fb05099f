import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { AccessTokens, callerOf } from '#troupe/auth/access-tokens.js';
import { RateLimit } from '#troupe/auth/rate-limit.js';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { systemClock } from '#troupe/base/clock.js';
import { Journal } from '#troupe/journal/journal.js';
import { Admission } from '#troupe/supervisor/jobs/admission.js';
import type { Slot } from '#troupe/supervisor/sessions/session-lifecycle.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('Tokens outlive the service, and nothing on disk tells one', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-tokens-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'troupe.db');
  const vault = await RequestVault.open(join(dir, 'troupe.key'));
  const open = async () => {
    const journal = await Journal.open({ file });
    return { journal, tokens: await AccessTokens.open({ journal, vault, clock: systemClock }) };
  };
  const before = await open();
  const made = await before.tokens.create({ name: 'me', role: 'admin', limits: { running: 2 } }, false);
  const gone = await before.tokens.create({ name: 'gone', role: 'run' }, false);
  const pass = before.tokens.cookieValueOf(made);
  await before.tokens.revoke(gone.id, false);
  await t.rejects(before.tokens.revoke('zzzzzzzzzzzz', false), { code: 'NOT_FOUND' });
  await before.journal.close();
  const after = await open();
  t.teardown(() => after.journal.close());
  t.match(after.tokens.find(made.token), { id: made.id, name: 'me', role: 'admin' });
  t.equal(after.tokens.find(gone.token), null);
  t.match(after.tokens.findByCookie(pass), { id: made.id });
  t.same(after.tokens.limitsOf(callerOf(made)), { running: 2 });
  await after.journal.close();
  const disk = readFileSync(file, 'latin1');
  t.ok(disk.includes(made.id), 'the file is the one that has them');
  t.notOk(disk.includes(made.token.slice('troupe_'.length)));
});

t.test('The last admin stays, unless the configuration has one', async (t) => {
  const tokens = new AccessTokens({
    journal: { write: async () => 0, keyValues: async () => [] },
    vault: { fingerprint: String },
    clock: systemClock,
  });
  await t.rejects(tokens.create({ name: 'a', role: 'run' }, false), { code: 'INVALID_REQUEST' });
  const admin = await tokens.create({ name: 'a', role: 'admin' }, false);
  const other = await tokens.create({ name: 'b', role: 'run' }, false);
  await t.rejects(tokens.revoke(admin.id, false), { code: 'INVALID_REQUEST', message: /the last admin/ });
  await tokens.revoke(other.id, false);
  await t.rejects(tokens.revoke(admin.id, false), { code: 'INVALID_REQUEST', message: /the last admin/ });
  await tokens.revoke(admin.id, true);
  t.equal(tokens.size, 0);
  t.ok(tokens.required);
  for (let count = 0; count < 10_000; count += 1) await tokens.create({ name: 'many', role: 'admin' }, false);
  await t.rejects(tokens.create({ name: 'one more', role: 'admin' }, false), { code: 'CAPACITY' });
});

t.test('A token runs and queues as much as it may, and those behind it are not held up', async (t) => {
  const limits = { small: { running: 1, queued: 2 } };
  const gate = new Admission({
    maxSessions: 3,
    maxQueue: 100,
    clock: systemClock,
    limitsOf: (caller) => (caller === 'small' ? limits.small : {}),
  });
  const admitted: string[] = [];
  const places = new Map<string, Slot>();
  const queue = (caller: string, id: string) =>
    gate.queue(caller, id, (place) => {
      admitted.push(id);
      places.set(id, place);
    });
  for (const id of ['s1', 's2', 's3']) queue('small', id);
  t.same(admitted, ['s1']);
  t.throws(() => gate.assertQueueHasRoom('small'), { code: 'CAPACITY', details: { retryAfterSeconds: 30 } });
  queue('other', 'o1');
  queue('other', 'o2');
  queue('other', 'o3');
  t.same(admitted, ['s1', 'o1', 'o2']);
  places.get('o1')?.release();
  t.same(admitted, ['s1', 'o1', 'o2', 'o3']);
  places.get('s1')?.release();
  t.same(admitted.at(-1), 's2');
  await t.rejects(gate.waitForSlot('small', { signal: new AbortController().signal, deadlineMs: 5 }), {
    code: 'CAPACITY',
    message: /this token/,
  });
});

t.test(
  'A token starts as many jobs a minute as its limit, and the error says when it may start the next',
  async (t) => {
    let now = 0;
    const rate = new RateLimit({ now: () => new Date(now) });
    for (let count = 0; count < 60; count += 1) rate.take('one', 60);
    t.throws(() => rate.take('one', 60), { code: 'CAPACITY', details: { perMinute: 60, retryAfterSeconds: 1 } });
    rate.take('another', 60);
    now += 1_000;
    rate.take('one', 60);
    t.throws(() => rate.take('one', 60), { code: 'CAPACITY' });
    now += 3_600_000;
    for (let count = 0; count < 60; count += 1) rate.take('one', 60);
    t.throws(() => rate.take('one', 60), { code: 'CAPACITY' });

    for (let caller = 0; caller < 1_000; caller += 1) rate.take(`revoked ${caller}`, 60);
    t.equal(rate.size, 1_001);
    now += 120_000;
    rate.take('one', 60);
    t.equal(rate.size, 1, 'what has filled again is not kept');
  },
);
