import t from 'tap';
import { ThreadHost } from '#troupe/actors/thread-host.js';
import { ThreadPool } from '#troupe/actors/thread-pool.js';
import { guardLeaks } from '../support/leaks.js';
import { SOON, SPECIMEN_THREAD, Specimen } from './specimen.js';

guardLeaks(t);

function startHost(test: { teardown(work: () => unknown): void }, maxHeapMb?: number): ThreadHost {
  const host = new ThreadHost({
    entry: SPECIMEN_THREAD,
    name: 'specimen',
    ...(maxHeapMb === undefined ? {} : { maxHeapMb }),
  });
  test.teardown(() => host.close());
  return host;
}

t.test('an ask is answered with what the handler returns', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, { hangOnStop: false });
  t.same(await ref.ask('Args', null, SOON), { hangOnStop: false });
  const values = [1, 'two', null, { three: [3, { deep: true }] }, new Uint8Array([4])];
  for (const value of values) t.same(await ref.ask('Echo', value, SOON), value);
});

t.test('asks of one burst are answered each with its own answer, in order', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => ref.ask('Echo', i, SOON)));
  t.same(
    answers,
    Array.from({ length: 1000 }, (_, i) => i),
  );
});

t.test('an error keeps its code and details across threads, and a foreign one becomes INTERNAL', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  await t.rejects(ref.ask('Fail', { code: 'LOCATOR_NOT_FOUND', message: 'no such' }, SOON), {
    code: 'LOCATOR_NOT_FOUND',
    message: 'no such',
    details: { from: 'specimen' },
  });
  await t.rejects(ref.ask('Throw', null, SOON), { code: 'INTERNAL', message: 'not one of ours' });
  t.equal(await ref.ask('Echo', 'lives on', SOON), 'lives on');
});

t.test('a payload that cannot leave its thread rejects its ask alone, as does an answer', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const asks = ['one', () => 'two', 'three'].map((payload) => ref.ask('Echo', payload, SOON));
  const [one, two, three] = await Promise.allSettled(asks);
  t.match([one, three], [{ value: 'one' }, { value: 'three' }]);
  t.match(two, { status: 'rejected', reason: { code: 'INTERNAL' } });
  await t.rejects(ref.ask('Unsendable', null, SOON), { code: 'INTERNAL', message: /could not be cloned/ });
});

t.test('a thread that cannot start says why to whoever wants an actor on it', async (t) => {
  const entry = new URL('data:text/javascript,throw new Error("a file is missing")');
  const host = new ThreadHost({ entry, name: 'specimen' });
  t.teardown(() => host.close());
  const code = 'SESSION_RESTARTED';
  const message = 'The thread of the session could not start: a file is missing';
  await t.rejects(host.spawn(Specimen, null), { code, message });
  await t.rejects(host.spawn(Specimen, null), { code, message });
});

t.test('asks with different deadlines end each at its own', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const ended: number[] = [];
  const asks = [600, 50, 300].map(async (deadlineMs) => {
    await t.rejects(ref.ask('HoldLater', null, { deadlineMs }), { message: new RegExp(`within ${deadlineMs} ms`) });
    ended.push(deadlineMs);
  });
  await Promise.all(asks);
  t.same(ended, [50, 300, 600]);
});

t.test('an ask past its deadline is rejected and its handler is told, so that the next message is taken', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  await t.rejects(ref.ask('Hold', null, { deadlineMs: 20 }), { code: 'UNAVAILABLE' });
  t.equal(await ref.ask('Echo', 'next', SOON), 'next');
});

t.test('an ask given up by its signal rejects with the reason of the signal', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const controller = new AbortController();
  const asked = ref.ask('Hold', null, { ...SOON, signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  await t.rejects(asked, { message: 'no longer wanted' });
  t.equal(await ref.ask('Echo', 'free again', SOON), 'free again');
});

t.test('a handler that answers later does not hold the mailbox', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const controller = new AbortController();
  const held = ref.ask('HoldLater', null, { ...SOON, signal: controller.signal });
  t.equal(await ref.ask('Echo', 'meanwhile', SOON), 'meanwhile');
  controller.abort(new Error('enough'));
  await t.rejects(held, { message: 'enough' });
});

t.test('a mailbox past its bound refuses asks with CAPACITY and still answers the others', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const controller = new AbortController();
  const held = ref.ask('Hold', null, { ...SOON, signal: controller.signal });
  const asks = Array.from({ length: 1100 }, (_, i) => ref.ask('Echo', i, SOON).catch((error) => error.code));
  const refused = await Promise.all(asks.slice(1024));
  t.ok(refused.every((code) => code === 'CAPACITY'));
  controller.abort(new Error('go on'));
  await t.rejects(held);
  t.same(
    await Promise.all(asks.slice(0, 1024)),
    Array.from({ length: 1024 }, (_, i) => i),
  );
});

t.test('events arrive in order, the last of them before the termination', async (t) => {
  const { ref, events$, terminated, stop } = await startHost(t).spawn(Specimen, null);
  const seen: string[] = [];
  events$.subscribe((event) => seen.push(event));
  await ref.ask('Emit', { events: ['a', 'b', 'c'] }, SOON);
  t.same(await stop(1_000), { reason: 'shutdown' });
  t.same(await terminated, { reason: 'shutdown' });
  t.same(seen, ['a', 'b', 'c', 'stopped: shutdown']);
  await t.rejects(ref.ask('Echo', 1, SOON), { code: 'SESSION_ENDED' });
});

t.test('an actor ends by itself as normal, and by a fault as crash with its error', async (t) => {
  const host = startHost(t);
  const ending = await host.spawn(Specimen, null);
  await ending.ref.ask('End', null, SOON).catch(() => undefined);
  t.match(await ending.terminated, { reason: 'normal' });
  const crashing = await host.spawn(Specimen, null);
  crashing.ref.tell('Crash', null);
  t.match(await crashing.terminated, { reason: 'crash', error: { code: 'WORKER_LOST', message: 'told to' } });
  t.equal(host.actorCount, 0);
});

t.test('an ask that waits when its actor crashes is rejected with the crash', async (t) => {
  const { ref } = await startHost(t).spawn(Specimen, null);
  const held = ref.ask('HoldLater', null, SOON);
  ref.tell('Crash', null);
  await t.rejects(held, { code: 'WORKER_LOST' });
});

t.test('a clean-up that hangs is cut at the deadline', async (t) => {
  const { stop } = await startHost(t).spawn(Specimen, { hangOnStop: true });
  t.match(await stop(30), { reason: 'crash', error: { code: 'UNAVAILABLE' } });
});

t.test('a thread that dies rejects its asks at once, and its actors terminate as lost', async (t) => {
  const host = startHost(t);
  const { ref, terminated } = await host.spawn(Specimen, null);
  const neighbour = await host.spawn(Specimen, null);
  const held = neighbour.ref.ask('HoldLater', null, SOON);
  ref.tell('ExitThread', null);
  await t.rejects(held, { code: 'SESSION_RESTARTED' });
  t.match(await terminated, { reason: 'lost' });
  await t.rejects(ref.ask('Echo', 1, SOON), { code: 'SESSION_RESTARTED' });
  await t.rejects(host.spawn(Specimen, null), { code: 'SESSION_RESTARTED' });
});

t.test('a thread that runs out of heap dies alone', async (t) => {
  const host = startHost(t, 32);
  const { ref } = await host.spawn(Specimen, null);
  await t.rejects(ref.ask('EatHeap', null, { deadlineMs: 30_000 }), { code: 'SESSION_RESTARTED' });
  const other = await startHost(t).spawn(Specimen, null);
  t.equal(await other.ref.ask('Echo', 'well', SOON), 'well');
});

t.test('a handler that does not come back ends its actor alone, as hang', async (t) => {
  const host = new ThreadHost({ entry: SPECIMEN_THREAD, name: 'hang', heartbeat: { everyMs: 50, misses: 200 } });
  t.teardown(() => host.close());
  const { ref, terminated } = await host.spawn(Specimen, null, { hangMs: 100 });
  const neighbour = await host.spawn(Specimen, null, { hangMs: 100 });
  const waiting = await Promise.allSettled([ref.ask('Hang', null, SOON), ref.ask('Echo', 'behind it', SOON)]);
  const reason = { code: 'UNAVAILABLE', message: /not handled within/ };
  t.match(waiting, [{ reason }, { reason }]);
  t.match(await terminated, { reason: 'hang' });
  await t.rejects(neighbour.ref.ask('HoldLater', null, { deadlineMs: 300 }), { code: 'UNAVAILABLE' });
  t.equal(
    await neighbour.ref.ask('Echo', 'what is answered later holds nothing', SOON),
    'what is answered later holds nothing',
  );
});

t.test('a thread that does not answer is ended, and its actors end as hang', async (t) => {
  const host = new ThreadHost({ entry: SPECIMEN_THREAD, name: 'block', heartbeat: { everyMs: 50, misses: 20 } });
  t.teardown(() => host.close());
  const blocked = await host.spawn(Specimen, null);
  const neighbour = await host.spawn(Specimen, null);
  const held = neighbour.ref.ask('HoldLater', null, SOON);
  await blocked.ref.ask('Block', null, SOON);
  await t.rejects(held, { code: 'SESSION_RESTARTED' });
  t.match(await blocked.terminated, { reason: 'hang', error: { code: 'UNAVAILABLE' } });
  t.match(await neighbour.terminated, { reason: 'hang' });
  t.equal(host.alive, false);
});

t.test('an actor on a thread that does not answer counts as ended a second after its deadline', async (t) => {
  const host = startHost(t);
  const { ref, stop } = await host.spawn(Specimen, null);
  await ref.ask('Block', null, SOON);
  t.match(await stop(10), { reason: 'hang' });
  t.equal(host.alive, true);
});

t.test('an event of the first moment is seen by who asks for it at the spawn', async (t) => {
  const seen: string[] = [];
  const host = startHost(t);
  const { stop } = await host.spawn(Specimen, { hello: 'I am' }, { onEvent: (event) => seen.push(event) });
  await stop(1_000);
  t.same(seen, ['I am', 'stopped: shutdown']);
});

t.test('the numbers of a thread tell what was handled, dropped and waits, how late it was and its heap', async (t) => {
  const host = startHost(t);
  const { ref, stop } = await host.spawn(Specimen, null);
  const other = await host.spawn(Specimen, null);
  const controller = new AbortController();
  const held = ref.ask('Hold', null, { ...SOON, signal: controller.signal });
  for (let i = 0; i < 1026; i += 1) ref.tell('Echo', i);
  await other.ref.ask('Echo', 1, SOON);
  t.match(await host.stats(), { actors: 2, handled: 2, dropped: 2, depth: 1024, deepest: 1024 });
  controller.abort(new Error('go on'));
  await t.rejects(held);
  await ref.ask('Echo', 2, SOON);
  await stop(1_000);
  const after = await host.stats();
  t.match(after, { actors: 1, handled: 2 + 1024 + 1, dropped: 2, depth: 0, deepest: 0 });
  t.ok(after.heapUsedBytes > 0);
  t.ok(after.loopLagMs.p50 >= 0 && after.loopLagMs.max >= after.loopLagMs.p99);
});

t.test('a pool places actors on the thread with the fewest, and replaces a thread that died', async (t) => {
  const pool = new ThreadPool({ entry: SPECIMEN_THREAD, name: 'pool' }, 2);
  t.teardown(() => pool.close());
  const placed = [];
  for (let i = 0; i < 4; i += 1) placed.push(await pool.spawn(Specimen, null));
  t.same(
    placed.map(({ thread }) => thread),
    [0, 1, 0, 1],
  );
  const [victim] = placed;
  victim?.handle.ref.tell('ExitThread', null);
  await victim?.handle.terminated;
  const next = await pool.spawn(Specimen, null);
  t.equal(next.thread, 0);
  t.equal(await next.handle.ref.ask('Echo', 'fresh', SOON), 'fresh');
  t.equal((await pool.spawn(Specimen, null, { thread: 1 })).thread, 1);
  await t.rejects(pool.spawn(Specimen, null, { thread: 2 }), { message: /no thread 2/ });
});
