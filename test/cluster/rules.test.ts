import t from 'tap';
import { afterLoss } from '#troupe/cluster/after-loss.js';
import { servedScore, UNSERVED, USAGE_HALF_LIFE_MS } from '#troupe/cluster/fair-share.js';
import { leaseTimes } from '#troupe/cluster/lease-times.js';
import { type NodeEffect, NodeMachine } from '#troupe/cluster/node-machine.js';
import { schemaVerdict } from '#troupe/journal/postgres/schema-verdict.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('no flow that has begun runs again unless retries asks for it', async (t) => {
  const outcomes = (['flows', 'cut', 'model', 'over'] as const).map((phase) =>
    [0, 1].map((retriesLeft) => afterLoss('auto', { phase, retriesLeft })),
  );
  t.same(outcomes, [
    ['requeue', 'requeue'],
    ['interrupted', 'retry'],
    ['continue', 'continue'],
    ['settle', 'settle'],
  ]);
  t.equal(afterLoss('live', { phase: 'flows', retriesLeft: 1 }), 'nodeLost');
});

t.test('nodes of neighbouring schemas run together, others do not', async (t) => {
  t.equal(schemaVerdict(3, 0, []), 'migrate');
  t.equal(schemaVerdict(3, 3, [3, 4]), 'use');
  t.equal(schemaVerdict(3, 4, [4]), 'use');
  t.equal(schemaVerdict(4, 3, [3]), 'migrate');
  t.throws(() => schemaVerdict(3, 5, []), { code: 'UNAVAILABLE', message: /update this node/ });
  t.throws(() => schemaVerdict(5, 4, [3]), { code: 'UNAVAILABLE', message: /all nodes to schema 4 first/ });
});

t.test('all times change by one factor', async (t) => {
  t.same(leaseTimes(0.1), {
    renewEveryMs: 500,
    fenceAfterMs: 2_000,
    lostAfterMs: 3_000,
    callTimeoutMs: 400,
    pollEveryMs: 100,
  });
  for (const factor of [0, -1, Number.NaN, 0.01, 100]) t.throws(() => leaseTimes(factor), { code: 'INVALID_REQUEST' });
});

t.test('a score orders callers by their decayed usage, at every later instant', async (t) => {
  const [often, once] = [1, 2, 3].reduce(
    ([a], ms) => [servedScore(a, ms), servedScore(UNSERVED, 4)],
    [UNSERVED, UNSERVED],
  );
  t.ok(UNSERVED < once && once < often);
  const later = servedScore(often, 5 * USAGE_HALF_LIFE_MS);
  t.ok(Math.abs(2 ** (later - 5) - (1 + 3 / 32)) < 0.001, 'the usage halves with each half-life');
});

t.test('a node fences itself by when its last successful renewal was sent', async (t) => {
  const times = leaseTimes();
  let tokens = 0;
  const machine = new NodeMachine({ id: 'a', slots: 2, times, newToken: () => `start${++tokens}` });
  const kinds = (effects: readonly NodeEffect[]) => effects.map(({ kind }) => kind);
  t.same(kinds(machine.handle({ kind: 'tick' }, 0)), ['register']);
  const startToken = 'start1';
  const joined = { kind: 'joined', inherited: [{ sessionId: 's', token: 't' }] } as const;
  t.same(kinds(machine.handle({ kind: 'registered', startToken, answer: joined }, 3_000)), ['recover', 'claim']);
  t.ok(machine.mayAct(times.fenceAfterMs - 1));
  t.notOk(machine.mayAct(times.fenceAfterMs), 'counted from 0, when it was sent');
  t.same(kinds(machine.handle({ kind: 'callFailed', startToken, call: 'claim' }, 3_500)), []);
  t.same(kinds(machine.handle({ kind: 'tick' }, 8_000)), ['renew', 'claim']);
  machine.handle({ kind: 'callFailed', startToken, call: 'renew' }, 12_000);
  t.ok(machine.dueAtMs <= times.fenceAfterMs);
  const late = { kind: 'renewed', startToken, answer: { kind: 'renewed', draining: false, claims: [] } } as const;
  t.same(kinds(machine.handle(late, 20_000)), ['stop'], 'an answer that comes too late proves nothing');
  t.same(kinds(machine.handle({ kind: 'tick' }, 20_500)), [], 'it waits until its sessions are stopped');
  t.same(kinds(machine.handle({ kind: 'stopped' }, 21_000)), ['register']);
  t.equal(machine.start.startToken, 'start2');
  const taken = {
    kind: 'registered',
    startToken: 'start2',
    answer: { kind: 'refused', reason: 'running-elsewhere' },
  } as const;
  t.same(kinds(machine.handle(taken, 21_010)), ['ended']);
});

t.test('a node that is drained claims nothing, and leaves when its claims are gone', async (t) => {
  const machine = new NodeMachine({ id: 'a', slots: 2, times: leaseTimes(), newToken: () => 'start' });
  const kinds = (effects: readonly NodeEffect[]) => effects.map(({ kind }) => kind);
  const startToken = 'start';
  const claim = { sessionId: 's', token: 't' };
  machine.handle({ kind: 'tick' }, 0);
  machine.handle({ kind: 'registered', startToken, answer: { kind: 'joined', inherited: [claim] } }, 10);
  machine.handle({ kind: 'claimed', startToken, claims: [] }, 20);
  machine.handle({ kind: 'drain' }, 30);
  t.same(kinds(machine.handle({ kind: 'tick' }, 5_010)), ['renew']);
  const renewed = { kind: 'renewed', draining: true, claims: [claim] } as const;
  t.same(kinds(machine.handle({ kind: 'renewed', startToken, answer: renewed }, 5_020)), [], 'no sweep either');
  machine.handle({ kind: 'released', claim }, 6_000);
  t.same(kinds(machine.handle({ kind: 'tick' }, 10_010)), ['renew', 'leave']);
  t.same(machine.handle({ kind: 'left', startToken, done: true }, 10_020), [{ kind: 'ended', reason: 'left' }]);
});
