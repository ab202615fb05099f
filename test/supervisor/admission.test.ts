import t from 'tap';
import { systemClock } from '#troupe/actors/clock.js';
import { Admission, type Place } from '#troupe/supervisor/admission.js';

const BOUNDS = { signal: new AbortController().signal, deadlineMs: 5_000 };

function admission(maxSessions: number, maxQueue = 100): Admission {
  return new Admission({ maxSessions, maxQueue, clock: systemClock });
}

t.test('jobs are admitted in the order of their coming, as many at once as there are places', async (t) => {
  const gate = admission(2);
  const admitted: string[] = [];
  const places: Place[] = [];
  for (const id of ['a', 'b', 'c', 'd']) {
    gate.queue(id, (place) => {
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
  const place = await gate.enter(BOUNDS);
  place.release();
  place.release();
  t.equal(gate.running, 0);
  await gate.enter(BOUNDS);
  await t.rejects(gate.enter({ ...BOUNDS, deadlineMs: 10 }), { code: 'CAPACITY' });
});

t.test('live sessions and jobs that wait take turns', async (t) => {
  const gate = admission(1);
  const order: string[] = [];
  let current = await gate.enter(BOUNDS);
  const take = (name: string) => (place: Place) => {
    order.push(name);
    current = place;
  };
  for (const id of ['job 1', 'job 2', 'job 3']) gate.queue(id, take(id));
  const lives = ['live 1', 'live 2'].map((name) => gate.enter(BOUNDS).then(take(name)));
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
    const place = await gate.enter(BOUNDS);
    await t.rejects(gate.enter({ ...BOUNDS, deadlineMs: 20 }), {
      code: 'CAPACITY',
      details: { maxSessions: 1, retryAfterSeconds: 5 },
    });
    place.release();
    t.equal(gate.running, 0);
  },
);

t.test('a live session whose client left takes no place', async (t) => {
  const gate = admission(1);
  const place = await gate.enter(BOUNDS);
  const client = new AbortController();
  const waiting = gate.enter({ signal: client.signal, deadlineMs: 5_000 });
  client.abort(new Error('gone'));
  await t.rejects(waiting, { message: 'gone' });
  place.release();
  t.equal(gate.running, 0);
});

t.test('a job that left the queue is never admitted, and those behind it move up', async (t) => {
  const gate = admission(1);
  const place = await gate.enter(BOUNDS);
  const admitted: string[] = [];
  for (const id of ['a', 'b']) gate.queue(id, () => admitted.push(id));
  t.equal(gate.leaveQueue('a'), true);
  t.equal(gate.leaveQueue('a'), false);
  t.equal(gate.position('b'), 1);
  place.release();
  t.same(admitted, ['b']);
});

t.test('the queue refuses a job past its bound', async (t) => {
  const gate = admission(1, 1);
  gate.queue('runs', () => undefined);
  gate.queue('waits', () => undefined);
  t.throws(() => gate.assertQueueHasRoom(), { code: 'CAPACITY' });
});

t.test('a closed admission admits nobody, and its jobs stay where they are', async (t) => {
  const gate = admission(1);
  const place = await gate.enter(BOUNDS);
  gate.queue('a', () => t.fail('admitted'));
  gate.close();
  place.release();
  t.equal(gate.position('a'), 1);
  await t.rejects(gate.enter(BOUNDS), { code: 'UNAVAILABLE' });
});
