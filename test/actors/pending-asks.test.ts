import { createHook } from 'node:async_hooks';
import t from 'tap';
import { PendingAsks } from '#troupe/actors/pending-asks.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const HOUR_MS = 3_600_000;

t.test('Asks that may take hours leave nothing in the lists of Node’s timers, one for each duration', async (t) => {
  const durations = new Set<unknown>();
  const hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (type === 'Timeout') durations.add(Reflect.get(resource, '_idleTimeout'));
    },
  }).enable();
  try {
    for (let n = 0; n < 20; n += 1) {
      const asks = new PendingAsks();
      const asked = asks.open(
        'It',
        { deadlineMs: HOUR_MS + n * 10 },
        () => undefined,
        () => undefined,
      );
      asks.failAll(new Error('gone'));
      await t.rejects(asked, { message: 'gone' });
    }
  } finally {
    hook.disable();
  }
  t.same([...durations].filter((ms) => Number(ms) > 1_000).length, 1);
});

t.test('An ask is given up at its deadline, and one that is due much later is not', async (t) => {
  // Asks do not keep a process alive; what is asked does.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const asks = new PendingAsks();
  const givenUp: number[] = [];
  const open = (what: string, deadlineMs: number) =>
    asks.open(
      what,
      { deadlineMs },
      () => undefined,
      (id) => givenUp.push(id),
    );
  const later = open('The second', HOUR_MS);
  await t.rejects(open('The first', 30), { code: 'UNAVAILABLE', message: 'The first was not answered within 30 ms' });
  t.same([givenUp, asks.size], [[2], 1]);
  asks.answer(1, 'yes');
  t.equal(await later, 'yes');
});

t.end();
