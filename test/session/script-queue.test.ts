import t from 'tap';
import { ScriptQueue } from '#troupe/session/control/script-queue.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const nobody = new AbortController();

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

t.test('scripts run one at a time in the order of their coming', async (t) => {
  const queue = new ScriptQueue(64);
  const log: string[] = [];
  const script = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise(setImmediate);
    log.push(`${name} ends`);
    return name;
  };
  t.same(await Promise.all(['a', 'b', 'c'].map((name) => queue.run(script(name), nobody))), ['a', 'b', 'c']);
  t.same(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

t.test('a script that fails does not keep the next from running', async (t) => {
  const queue = new ScriptQueue(64);
  const failing = queue.run(() => Promise.reject(new Error('mine')), nobody);
  const next = queue.run(async () => 'runs', nobody);
  await t.rejects(failing, { message: 'mine' });
  t.equal(await next, 'runs');
});

t.test('the script past the bound is refused with CAPACITY, and there is room again when one has run', async (t) => {
  const queue = new ScriptQueue(2);
  const held = gate();
  const running = queue.run(() => held.opened, nobody);
  const waiting = [queue.run(async () => 1, nobody), queue.run(async () => 2, nobody)];
  await t.rejects(
    queue.run(async () => 3, nobody),
    { code: 'CAPACITY' },
  );
  held.open();
  await running;
  t.same(await Promise.all(waiting), [1, 2]);
  t.equal(await queue.run(async () => 3, nobody), 3);
});

t.test('a script whose asker left while it waited never runs; one that runs goes on', async (t) => {
  const queue = new ScriptQueue(64);
  const held = gate();
  const first = new AbortController();
  const second = new AbortController();
  const running = queue.run(async () => {
    await held.opened;
    return 'whole';
  }, first);
  const waiting = queue.run(async () => t.fail('it ran'), second);
  second.abort(new Error('left'));
  first.abort(new Error('left too'));
  await t.rejects(waiting, { message: 'left' });
  held.open();
  t.equal(await running, 'whole');
});

t.test('closing rejects what waits, aborts what runs and refuses what comes, all with the same error', async (t) => {
  const queue = new ScriptQueue(64);
  const running = queue.run(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    nobody,
  );
  const waiting = queue.run(async () => t.fail('it ran'), nobody);
  const closed = new Error('closed');
  queue.close(closed);
  queue.close(new Error('again'));
  for (const script of [running, waiting, queue.run(async () => 1, nobody)]) await t.rejects(script, closed);
});
