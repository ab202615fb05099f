import { setMaxListeners } from 'node:events';
import t from 'tap';
import { systemClock } from '#troupe/base/clock.js';
import { Admission } from '#troupe/supervisor/jobs/admission.js';
import type { Slot } from '#troupe/supervisor/sessions/session-lifecycle.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const BOUNDS = { signal: new AbortController().signal, deadlineMs: 5_000 };

function admission(maxSessions: number, maxQueue = 100): Admission {
  return new Admission({ maxSessions, maxQueue, clock: systemClock });
}

t.test('jobs are admitted in the order of their coming, as many at once as there are places', async (t) => {
  const gate = admission(2);
  const admitted: string[] = [];
  const places: Slot[] = [];
  for (const id of ['a', 'b', 'c', 'd']) {
    gate.queue('one', id, (place) => {
      admitted.push(id);
      places.push(place);
    });
  }
  t.same(admitted, ['a', 'b']);
  t.equal(gate.position('a'), null);
  t.equal(gate.position('c'), 1);
  t.equal(gate.position('d'), 2);
  places[1]?.release();
  t.same(admitted, ['a', 'b', 'c']);
  t.equal(gate.position('d'), 1);
  t.equal(gate.running, 2);
});

t.test('a place given back twice is one place', async (t) => {
  const gate = admission(1);
  const place = await gate.waitForSlot('one', BOUNDS);
  place.release();
  place.release();
  t.equal(gate.running, 0);
  await gate.waitForSlot('one', BOUNDS);
  await t.rejects(gate.waitForSlot('one', { ...BOUNDS, deadlineMs: 10 }), { code: 'CAPACITY' });
});

t.test('live sessions and jobs that wait take turns', async (t) => {
  const gate = admission(1);
  const order: string[] = [];
  let current = await gate.waitForSlot('one', BOUNDS);
  const take = (name: string) => (place: Slot) => {
    order.push(name);
    current = place;
  };
  for (const id of ['job 1', 'job 2', 'job 3']) gate.queue('one', id, take(id));
  const lives = ['live 1', 'live 2'].map((name) => gate.waitForSlot('one', BOUNDS).then(take(name)));
  for (let turn = 0; turn < 5; turn += 1) {
    const before = order.length;
    current.release();
    await Promise.race([...lives, Promise.resolve()]);
    await new Promise(setImmediate);
    t.equal(order.length, before + 1);
  }
  t.same(order, ['job 1', 'live 1', 'job 2', 'live 2', 'job 3']);
});

t.test(
  'a live session waits at most its deadline, and then leaves the lane with CAPACITY and a time to come back',
  async (t) => {
    const gate = admission(1);
    const place = await gate.waitForSlot('one', BOUNDS);
    await t.rejects(gate.waitForSlot('one', { ...BOUNDS, deadlineMs: 20 }), {
      code: 'CAPACITY',
      details: { maxSessions: 1, running: 1, queued: 0, retryAfterSeconds: 5 },
    });
    place.release();
    t.equal(gate.running, 0);
  },
);

t.test('a live session whose client left takes no place', async (t) => {
  const gate = admission(1);
  const place = await gate.waitForSlot('one', BOUNDS);
  const client = new AbortController();
  const waiting = gate.waitForSlot('one', { signal: client.signal, deadlineMs: 5_000 });
  client.abort(new Error('gone'));
  await t.rejects(waiting, { message: 'gone' });
  place.release();
  t.equal(gate.running, 0);
});

t.test('a job that left the queue is never admitted, and those behind it move up', async (t) => {
  const gate = admission(1);
  const place = await gate.waitForSlot('one', BOUNDS);
  const admitted: string[] = [];
  for (const id of ['a', 'b']) gate.queue('one', id, () => admitted.push(id));
  t.equal(gate.leaveQueue('a'), true);
  t.equal(gate.leaveQueue('a'), false);
  t.equal(gate.position('b'), 1);
  place.release();
  t.same(admitted, ['b']);
});

t.test('the queue refuses a job past its bound', async (t) => {
  const gate = admission(1, 1);
  gate.queue('one', 'runs', () => undefined);
  gate.queue('one', 'waits', () => undefined);
  t.throws(() => gate.assertQueueHasRoom('one'), { code: 'CAPACITY' });
});

t.test('jobs that are about to come take room in the queue, until they come or do not', async (t) => {
  const gate = admission(1, 2);
  await gate.waitForSlot('one', BOUNDS);
  gate.reserve('one', 'a');
  gate.reserve('one', 'b');
  t.throws(() => gate.assertQueueHasRoom('one'), { code: 'CAPACITY' });
  t.equal(gate.queued, 0);
  t.equal(gate.position('a'), null);
  gate.queue('one', 'a', () => undefined);
  t.equal(gate.queued, 1);
  t.throws(() => gate.assertQueueHasRoom('one'), { code: 'CAPACITY' });
  t.equal(gate.leaveQueue('b'), true);
  gate.assertQueueHasRoom('one');
  t.throws(() => gate.assertQueueHasRoom('one', 2), { code: 'CAPACITY' });
});

t.test('a full queue still takes the first job of another caller', async (t) => {
  const gate = admission(1, 2);
  for (const id of ['runs', 'waits', 'waits too']) gate.queue('one', id, () => undefined);
  t.throws(() => gate.assertQueueHasRoom('one'), { code: 'CAPACITY', details: { running: 1, queued: 2 } });
  gate.assertQueueHasRoom('another');
  gate.queue('another', 'first', () => undefined);
  t.throws(() => gate.assertQueueHasRoom('another'), { code: 'CAPACITY' });
});

t.test('a caller that floods the service delays another by one turn alone', async (t) => {
  const gate = admission(1);
  const order: string[] = [];
  let current = await gate.waitForSlot('flood', BOUNDS);
  const take = (name: string) => (place: Slot) => {
    order.push(name);
    current = place;
  };
  for (const id of ['f1', 'f2', 'f3', 'f4']) gate.queue('flood', id, take(id));
  for (const id of ['a1', 'a2']) gate.queue('a', id, take(id));
  gate.queue('b', 'b1', take('b1'));
  t.same(
    ['f1', 'a1', 'b1', 'f2', 'a2', 'f3', 'f4'].map((id) => gate.position(id)),
    [1, 2, 3, 4, 5, 6, 7],
  );
  for (let turn = 0; turn < 4; turn += 1) current.release();
  gate.queue('late', 'l1', take('l1'));
  for (let turn = 0; turn < 4; turn += 1) current.release();
  t.same(order, ['f1', 'a1', 'b1', 'f2', 'l1', 'a2', 'f3', 'f4'], 'who had least comes first');
});

t.test(
  'who comes to a flooded service is served first until it has had as much, and that is forgotten in time',
  async (t) => {
    const clock = new ManualClock();
    const gate = new Admission({ maxSessions: 1, maxQueue: 10_000, clock });
    const order: string[] = [];
    let current: Slot | undefined;
    const queue = (caller: string, count: number) => {
      for (let index = 0; index < count; index += 1) {
        gate.queue(caller, `${caller}${order.length}-${index}`, (place) => {
          order.push(caller);
          current = place;
        });
      }
    };
    const serve = (count: number) => {
      order.length = 0;
      for (let index = 0; index < count; index += 1) current?.release();
      return order.join('');
    };
    queue('f', 5_000);
    serve(100);
    queue('b', 50);
    t.equal(serve(60), `${'b'.repeat(50)}${'f'.repeat(10)}`);
    clock.advance(20 * 60_000);
    queue('b', 10);
    t.match(serve(20), /^(bf){10}$|^(fb){10}$/);
  },
);

t.test('live creates that wait are bounded for each caller, so that others still may', async (t) => {
  const gate = admission(1);
  const place = await gate.waitForSlot('flood', BOUNDS);
  const client = new AbortController();
  // Each of a service's clients has a signal of its own.
  setMaxListeners(0, client.signal);
  const bounds = { signal: client.signal, deadlineMs: 60_000 };
  const waiting = Array.from({ length: 250 }, () => gate.waitForSlot('flood', bounds));
  await t.rejects(gate.waitForSlot('flood', bounds), {
    code: 'CAPACITY',
    details: { waiting: 250, retryAfterSeconds: 5 },
  });
  const other = gate.waitForSlot('another', BOUNDS);
  const first = waiting.shift();
  place.release();
  (await other).release();
  (await first)?.release();
  client.abort(new Error('gone'));
  for (const outcome of await Promise.allSettled(waiting)) if (outcome.status === 'fulfilled') outcome.value.release();
  t.match((await gate.waitForSlot('another', BOUNDS)).release, Function);
});

t.test('a closed admission admits nobody, and its jobs stay where they are', async (t) => {
  const gate = admission(1);
  const place = await gate.waitForSlot('one', BOUNDS);
  gate.queue('one', 'a', () => t.fail('admitted'));
  gate.close();
  place.release();
  t.equal(gate.position('a'), 1);
  await t.rejects(gate.waitForSlot('one', BOUNDS), { code: 'UNAVAILABLE' });
});
