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
