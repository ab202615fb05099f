import { filter, firstValueFrom, timeout } from 'rxjs';
import t from 'tap';
import type { ActorRef, EndReason } from '#troupe/actors/actor.js';
import type { Child, ChildState } from '#troupe/actors/child.js';
import type { ChildSpec } from '#troupe/actors/child-spec.js';
import type { Restart } from '#troupe/actors/restart-policy.js';
import { Supervision, type SupervisionOptions } from '#troupe/actors/supervision.js';
import { ThreadPool } from '#troupe/actors/thread-pool.js';
import { guardLeaks } from '../support/leaks.js';
import { ManualClock } from './manual-clock.js';
import { SOON, SPECIMEN_THREAD, Specimen, type SpecimenArgs, type SpecimenMessages } from './specimen.js';

guardLeaks(t);

type SpecimenChild = Child<SpecimenMessages, string>;
type Test = { teardown(work: () => unknown): void };

function startPool(test: Test, size: number, heartbeat = { everyMs: 50, misses: 400 }): ThreadPool {
  const pool = new ThreadPool({ entry: SPECIMEN_THREAD, name: 'supervised', heartbeat }, size);
  test.teardown(() => pool.close());
  return pool;
}

function startSupervision(test: Test, threads: ThreadPool, options: Partial<SupervisionOptions> = {}): Supervision {
  const supervision = new Supervision({ threads, bounds: { firstDelayMs: 1 }, ...options });
  test.teardown(() => supervision.stop(5_000));
  return supervision;
}

function spec(
  id: string,
  more: Partial<ChildSpec<SpecimenMessages, SpecimenArgs | null, string>> = {},
): ChildSpec<SpecimenMessages, SpecimenArgs | null, string> {
  return {
    id,
    kind: Specimen,
    args: (attempt) => ({ attempt }),
    restart: 'permanent',
    shutdownMs: 1_000,
    thread: 'least-loaded',
    ...more,
  };
}

/** The next state of that kind. */
function next<K extends ChildState['kind']>(child: SpecimenChild, kind: K): Promise<ChildState & { readonly kind: K }> {
  const isThat = (state: ChildState): state is ChildState & { readonly kind: K } => state.kind === kind;
  return firstValueFrom(child.states$.pipe(filter(isThat), timeout(SOON.deadlineMs)));
}

const RESTARTS: readonly Restart[] = ['permanent', 'transient', 'temporary'];
const ENDS: readonly {
  readonly reason: EndReason;
  readonly provoke: (ref: ActorRef<SpecimenMessages>) => void;
  readonly restarted: readonly Restart[];
}[] = [
  { reason: 'normal', provoke: (ref) => ref.tell('End', null), restarted: ['permanent'] },
  { reason: 'shutdown', provoke: (ref) => ref.tell('Shutdown', null), restarted: ['permanent'] },
  { reason: 'crash', provoke: (ref) => ref.tell('Crash', null), restarted: ['permanent', 'transient'] },
  { reason: 'hang', provoke: (ref) => ref.tell('Hang', null), restarted: ['permanent', 'transient'] },
  { reason: 'lost', provoke: (ref) => ref.tell('ExitThread', null), restarted: ['permanent', 'transient'] },
];

for (const { reason, provoke, restarted } of ENDS) {
  t.test(`after ${reason}, ${restarted.join(' and ')} children start again and no others`, async (t) => {
    const supervision = startSupervision(t, startPool(t, RESTARTS.length));
    for (const [thread, restart] of RESTARTS.entries()) {
      const child = await supervision.start(spec(restart, { restart, thread, hangMs: 100 }));
      const backingOff = restarted.includes(restart) ? next(child, 'backing-off') : undefined;
      const running = restarted.includes(restart) ? next(child, 'running') : undefined;
      provoke(child.ref);
      if (backingOff === undefined || running === undefined) {
        t.match(await child.terminated, { reason }, `${restart} ended`);
        await t.rejects(child.ref.ask('Echo', 1, SOON), `${restart} takes no asks`);
        continue;
      }
      t.match(await backingOff, { attempt: 1, cause: { reason } }, `${restart} waits to start`);
      t.match(await running, { attempt: 1, thread }, `${restart} runs again`);
      t.same(await child.ref.ask('Args', null, SOON), { attempt: 1 }, `${restart} is asked by the same ref`);
      t.equal(child.restarts, 1);
    }
  });
}

t.test('a child that ends more often than its intensity ends for good, and its sibling does not notice', async (t) => {
  const bounds = { firstDelayMs: 1, intensity: 2 };
  const supervision = startSupervision(t, startPool(t, 1), { bounds });
  const child = await supervision.start(spec('crashing'));
  const sibling = await supervision.start(spec('sibling'));
  for (let i = 0; i < 2; i += 1) {
    const running = next(child, 'running');
    child.ref.tell('Crash', null);
    await running;
  }
  child.ref.tell('Crash', null);
  t.match(await child.terminated, { reason: 'crash', error: { code: 'WORKER_LOST' } });
  await t.rejects(child.ref.ask('Echo', 1, SOON), { code: 'WORKER_LOST' });
  t.equal(child.restarts, 2);
  t.equal(sibling.restarts, 0);
  t.equal(await sibling.ref.ask('Echo', 'well', SOON), 'well');
  t.match(await supervision.stats(), { running: 1, starting: 0, restarts: 2, failed: 1, threads: [{ actors: 1 }] });
});

t.test('a child waits twice as long before each restart, by the clock that was given', async (t) => {
  const clock = new ManualClock();
  const bounds = { firstDelayMs: 1_000, maxDelayMs: 3_000, jitter: 0.5, periodMs: 60_000 };
  const supervision = startSupervision(t, startPool(t, 1), { clock, random: () => 0, bounds });
  const child = await supervision.start(spec('patient'));
  for (const delayMs of [1_000, 2_000, 3_000]) {
    const backingOff = next(child, 'backing-off');
    child.ref.tell('Crash', null);
    t.match(await backingOff, { delayMs });
    clock.advance(delayMs - 1);
    t.equal(child.state.kind, 'backing-off');
    const running = next(child, 'running');
    clock.advance(1);
    await running;
  }
});

t.test('asks wait for a child that is away, within their bounds and up to 64; tells are dropped', async (t) => {
  const clock = new ManualClock();
  const supervision = startSupervision(t, startPool(t, 1), { clock });
  const child = await supervision.start(spec('away'));
  const backingOff = next(child, 'backing-off');
  child.ref.tell('Crash', null);
  await backingOff;
  const controller = new AbortController();
  const givenUp = child.ref.ask('Echo', 0, { ...SOON, signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  await t.rejects(givenUp, { message: 'no longer wanted' });
  await t.rejects(child.ref.ask('Echo', 0, { deadlineMs: 10 }), { code: 'UNAVAILABLE' });
  const asks = Array.from({ length: 64 }, (_, i) => child.ref.ask('Echo', i, SOON));
  await t.rejects(child.ref.ask('Echo', 64, SOON), { code: 'CAPACITY' });
  child.ref.tell('Crash', null);
  clock.advance(1_000);
  t.same(
    await Promise.all(asks),
    asks.map((_, i) => i),
  );
  t.match(await supervision.stats(), { dropped: 1, restarts: 1 });
});

t.test('an ask sent before the news of the end is answered by the next life', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  const child = await supervision.start(spec('swift'));
  // The first is handled; the others travel with it and find the actor gone.
  child.ref.tell('Crash', null);
  t.same(await Promise.all([1, 2].map((n) => child.ref.ask('Echo', n, SOON))), [1, 2]);
  t.equal(child.restarts, 1);
});

t.test(
  'a thread that dies rejects its asks at once and takes only its own actors, which start elsewhere',
  async (t) => {
    const supervision = startSupervision(t, startPool(t, 2));
    const victims = [
      await supervision.start(spec('one', { args: (attempt) => ({ hello: `one ${attempt}` }) })),
      await supervision.start(spec('other')),
      await supervision.start(spec('two')),
    ];
    const [one, other, two] = victims;
    if (one === undefined || other === undefined || two === undefined) throw new Error('Three were started');
    const seen: string[] = [];
    one.events$.subscribe((event) => seen.push(event));
    const held = two.ref.ask('HoldLater', null, SOON);
    const running = [next(one, 'running'), next(two, 'running')];
    one.ref.tell('ExitThread', null);
    await t.rejects(held, { code: 'SESSION_RESTARTED' });
    await Promise.all(running);
    t.same(await two.ref.ask('Echo', 'again', SOON), 'again');
    t.equal(other.restarts, 0);
    t.same(seen, ['one 1']);
    const completed = new Promise<void>((resolve) => one.events$.subscribe({ complete: resolve }));
    await one.stop();
    await completed;
    t.same(seen, ['one 1', 'stopped: shutdown']);
  },
);

t.test('a thread that runs out of heap takes only its own actors', async (t) => {
  const pool = new ThreadPool({ entry: SPECIMEN_THREAD, name: 'small', maxHeapMb: 32 }, 2);
  t.teardown(() => pool.close());
  const supervision = startSupervision(t, pool);
  const hungry = await supervision.start(spec('hungry', { thread: 0 }));
  const other = await supervision.start(spec('other', { thread: 1 }));
  const running = next(hungry, 'running');
  await t.rejects(hungry.ref.ask('EatHeap', null, SOON), { code: 'SESSION_RESTARTED' });
  await running;
  t.equal(await hungry.ref.ask('Echo', 'again', SOON), 'again');
  t.equal(other.restarts, 0);
});

t.test('a thread that blocks is ended, and all its actors start again on a fresh one', async (t) => {
  const supervision = startSupervision(t, startPool(t, 2, { everyMs: 50, misses: 20 }));
  const blocking = await supervision.start(spec('blocking', { thread: 0 }));
  const neighbour = await supervision.start(spec('neighbour', { thread: 0 }));
  const backingOff = [next(blocking, 'backing-off'), next(neighbour, 'backing-off')];
  const running = [next(blocking, 'running'), next(neighbour, 'running')];
  await blocking.ref.ask('Block', null, SOON);
  for (const state of await Promise.all(backingOff)) t.match(state, { cause: { reason: 'hang' } });
  await Promise.all(running);
  t.equal(await blocking.ref.ask('Echo', 'again', SOON), 'again');
  t.equal(await neighbour.ref.ask('Echo', 'again', SOON), 'again');
});

t.test('a first start whose `ready` fails rejects and leaves nothing', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  const refused = new Error('not today');
  await t.rejects(supervision.start(spec('shy', { ready: () => Promise.reject(refused) })), { message: 'not today' });
  const never = () => new Promise<never>(() => undefined);
  const late = supervision.start(spec('late', { ready: never, readyMs: 20 }));
  await t.rejects(late, { code: 'UNAVAILABLE', message: /not ready within 20 ms/ });
  const crashing = supervision.start(spec('crashing', { ready: (ref) => ref.ask('Crash', null, SOON).then(never) }));
  await t.rejects(crashing, { code: 'WORKER_LOST' });
  t.match(await supervision.stats(), { running: 0, starting: 0, restarts: 0, failed: 3, threads: [{ actors: 0 }] });
  await supervision.start(spec('shy'));
});

t.test('a restart whose `ready` fails counts as one more crash', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  const attempts: unknown[] = [];
  const child = await supervision.start(
    spec('shaky', {
      ready: async (ref, { attempt }) => {
        attempts.push([attempt, await ref.ask('Args', null, SOON)]);
        if (attempt === 1) throw new Error('not yet');
      },
    }),
  );
  const running = next(child, 'running');
  child.ref.tell('Crash', null);
  t.match(await running, { attempt: 2 });
  t.same(
    attempts,
    [0, 1, 2].map((attempt) => [attempt, { attempt }]),
  );
  t.equal(child.restarts, 2);
  t.match(await supervision.stats(), { threads: [{ actors: 1 }] });
});

t.test('an error that is final ends a child whatever its restart type', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  const child = await supervision.start(spec('final', { finalCodes: ['WORKER_LOST'] }));
  child.ref.tell('Crash', null);
  t.match(await child.terminated, { reason: 'crash', error: { code: 'WORKER_LOST' } });
  t.equal(child.restarts, 0);
});

t.test('children are stopped newest first, one after another, each within its own deadline', async (t) => {
  const supervision = startSupervision(t, startPool(t, 2));
  const ended: string[] = [];
  const start = async (id: string, more: Parameters<typeof spec>[1] = {}) => {
    const child = await supervision.start(spec(id, more));
    child.states$.subscribe((state) => {
      if (state.kind === 'stopping' || state.kind === 'ended') ended.push(`${id} ${state.kind}`);
    });
    return child;
  };
  const first = await start('first');
  const running = next(first, 'running');
  first.ref.tell('Crash', null);
  await running;
  const slow = await start('slow', { args: () => ({ hangOnStop: true }), shutdownMs: 50 });
  await start('last');
  await supervision.stop(10_000);
  t.same(ended, ['last stopping', 'last ended', 'slow stopping', 'slow ended', 'first stopping', 'first ended']);
  t.match(await first.terminated, { reason: 'shutdown' }, 'a restart does not change the order');
  t.match(await slow.terminated, { reason: 'crash', error: { message: 'Not stopped within 50 ms' } });
  await t.rejects(supervision.start(spec('more')), { code: 'UNAVAILABLE' });
  await t.rejects(first.ref.ask('Echo', 1, SOON), { code: 'SESSION_ENDED' });
});

t.test('children that are left at the deadline of a stop are killed', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  const more = { args: () => ({ hangOnStop: true }), shutdownMs: 60_000 };
  const children = [await supervision.start(spec('one', more)), await supervision.start(spec('two', more))];
  await supervision.stop(50);
  for (const child of children) t.match(await child.terminated, { reason: 'hang' });
});

t.test('a child can be stopped while it starts, and while it waits to', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1), { clock: new ManualClock() });
  const child = await supervision.start(spec('waiting'));
  const backingOff = next(child, 'backing-off');
  child.ref.tell('Crash', null);
  await backingOff;
  const waiting = child.ref.ask('Echo', 1, SOON);
  t.match(await Promise.all([child.stop(), child.stop()]), [{ reason: 'shutdown' }, { reason: 'shutdown' }]);
  await t.rejects(waiting, { code: 'SESSION_ENDED' });

  let begun: () => void = () => undefined;
  const isStarting = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const ready = () => {
    begun();
    return new Promise<never>(() => undefined);
  };
  const starting = supervision.start(spec('starting', { ready }));
  starting.catch(() => undefined);
  await isStarting;
  await supervision.stop(10_000);
  await t.rejects(starting, { code: 'SESSION_ENDED' });
  t.match(await supervision.stats(), { running: 0, starting: 0, threads: [{ actors: 0 }] });
});

t.test('two children of one id are refused', async (t) => {
  const supervision = startSupervision(t, startPool(t, 1));
  await supervision.start(spec('same'));
  await t.rejects(supervision.start(spec('same')), { code: 'INTERNAL' });
});
