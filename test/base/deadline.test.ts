import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import {
  boundedWait,
  onAbort,
  pause,
  settlesWithin,
  Wakeups,
  withDeadline,
  withSignal,
} from '#troupe/base/deadline.js';
import { deadlineFactor, stretchedBy } from '../../scripts/support/deadline-factor.mjs';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const never = new Promise<never>(() => undefined);
const late = () => new Error('late');

t.test('A wait ends once, by whatever comes first, and leaves in the same turn', async (t) => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  let left = 0;
  let settle: (value: number) => void = () => undefined;
  const wait = boundedWait<number>({ signal, ms: 10, late, clock }, (resolve) => {
    settle = resolve;
    return () => {
      left += 1;
    };
  });
  settle(1);
  t.equal(left, 1);
  settle(2);
  clock.advance(10);
  t.equal(await wait, 1);
  t.equal(left, 1);
});

t.test('A wait that is settled while it begins leaves too', async (t) => {
  let left = 0;
  const begin = (resolve: (value: string) => void) => {
    resolve('at once');
    return () => {
      left += 1;
    };
  };
  t.equal(await boundedWait({}, begin), 'at once');
  t.equal(left, 1);
});

t.test(
  'A wait rejects with the reason of its signal, and after its time with what it was given for that',
  async (t) => {
    const clock = new ManualClock();
    const given = new AbortController();
    const aborted = withDeadline(never, { signal: given.signal, ms: 10, late, clock });
    const expired = withDeadline(never, { ms: 10, late, clock });
    given.abort(new Error('gone'));
    clock.advance(10);
    await t.rejects(aborted, { message: 'gone' });
    await t.rejects(expired, { message: 'late' });
    await t.rejects(withDeadline(Promise.reject(new Error('unheard')), { signal: given.signal }), { message: 'gone' });
    await t.rejects(
      boundedWait({ ms: 10, clock }, () => {
        throw new Error('it cannot begin');
      }),
      { message: 'it cannot begin' },
    );
  },
);

t.test(
  'Work in time is distinguished from work that is late, and a pause ends with its time or its signal',
  async (t) => {
    const clock = new ManualClock();
    t.equal(await settlesWithin(Promise.reject(new Error('failed')), 60_000), true);
    t.equal(await settlesWithin(never, 1), false);
    const given = new AbortController();
    const cut = pause(20, { signal: given.signal, clock });
    const whole = pause(10, { clock });
    clock.advance(10);
    await whole;
    given.abort(new Error('gone'));
    await t.rejects(cut, { message: 'gone' });
  },
);

t.test('The signal of some work is aborted by its time and by any of the signals given', async (t) => {
  const clock = new ManualClock();
  const [first, second] = [new AbortController(), new AbortController()];
  const signals = [first.signal, second.signal];
  const reasonOf = (signal: AbortSignal) => withDeadline(never, { signal });
  const bySignal = withSignal({ signals, ms: 10, late, clock }, reasonOf);
  second.abort(new Error('second'));
  await t.rejects(bySignal, { message: 'second' });
  await t.rejects(withSignal({ signals, ms: 10, late, clock }, reasonOf), { message: 'second' });
  const byTime = withSignal({ signals: [first.signal], ms: 10, late, clock }, reasonOf);
  clock.advance(10);
  await t.rejects(byTime, { message: 'late' });
});

t.test('Who listens for an abort hears of one that was before, and not after leaving', (t) => {
  const heard: string[] = [];
  onAbort(AbortSignal.abort(), () => heard.push('before'));
  const given = new AbortController();
  onAbort(given.signal, () => heard.push('left'))();
  onAbort(given.signal, () => heard.push('now'));
  given.abort();
  t.same(heard, ['before', 'now']);
  t.end();
});

t.test('All who wait for a change wake up, and nobody stays behind', async (t) => {
  const wakeups = new Wakeups();
  const given = new AbortController();
  const { signal } = new AbortController();
  const waits = [wakeups.next(signal), wakeups.next(given.signal), wakeups.next(signal)];
  given.abort();
  await waits[1];
  t.equal(wakeups.size, 2);
  wakeups.wake();
  await Promise.all(waits);
  t.equal(wakeups.size, 0);
  await wakeups.next(given.signal);
});

const run = promisify(execFile);
const SPECIMEN = join(import.meta.dirname, 'factor.entry.mjs');

/** @param factor none as in use, where nobody gives one */
function environment(factor: string | undefined): NodeJS.ProcessEnv {
  const { TROUPE_TEST_DEADLINE_FACTOR: _, NODE_OPTIONS: __, ...env } = process.env;
  return factor === undefined ? env : { ...env, ...stretchedBy(Number(factor)) };
}

t.test('A factor reaches a process, its threads without environment variables, and a pool of them', async (t) => {
  const lengths = async (factor?: string): Promise<unknown> =>
    JSON.parse((await run(process.execPath, [SPECIMEN], { env: environment(factor) })).stdout);
  t.same(await lengths(), [10, 10, 10]);
  t.same(await lengths('4'), [40, 40, 40]);
  t.same(await lengths('1'), [10, 10, 10]);
});

t.test('Limits on the clock of the system are stretched; those on another clock, and pauses, are not', async (t) => {
  const source = `
    const { systemClock } = await import('#troupe/base/clock.js');
    const asked = [];
    systemClock.after = (ms, work) => { asked.push(ms); setTimeout(work); return () => undefined; };
    const { pause, settlesWithin, startLimit, stretched, unstretched, withDeadline, withSignal } =
      await import('#troupe/base/deadline.js');
    const never = new Promise(() => undefined);
    const bounds = { ms: 10, late: () => new Error('late') };
    await withDeadline(never, bounds).catch(() => undefined);
    await settlesWithin(never, 20);
    await withSignal({ ...bounds, ms: 30, signals: [] }, (signal) => withDeadline(never, { signal })).catch(() => undefined);
    await new Promise((resolve) => startLimit(40, resolve));
    await pause(50);
    const clock = { now: () => new Date(), after: systemClock.after };
    await withDeadline(never, { ...bounds, ms: 60, clock }).catch(() => undefined);
    console.log(JSON.stringify([asked, stretched(10, clock), unstretched(stretched(10))]));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source], { env: environment('4') });
  t.same(JSON.parse(stdout), [[40, 80, 120, 160, 50, 60], 10, 10]);
});

t.test('A slow or crowded machine has longer limits, and none has shorter ones', (t) => {
  const idle = { slowness: 1, waiting: 1, load: 0, cores: 8, files: 1 };
  t.equal(deadlineFactor(idle), 1);
  t.equal(deadlineFactor({ ...idle, files: 3 }), 2, 'several files at a time');
  t.equal(deadlineFactor({ ...idle, slowness: 3 }), 3);
  t.equal(deadlineFactor({ ...idle, load: 2, cores: 2, files: 3 }), 3.5);
  t.equal(deadlineFactor({ ...idle, waiting: 4 }), 4);
  t.equal(deadlineFactor({ ...idle, slowness: 4, waiting: 9 }), 10);
  t.end();
});
