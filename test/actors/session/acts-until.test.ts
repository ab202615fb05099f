import t from 'tap';
import { DevToolsChannel } from '#troupe/actors/session/connection/devtools-channel.js';
import { SharedDeadline } from '#troupe/base/shared-deadline.js';
import { openBrowser } from '../../support/agent-fixture.js';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

t.test('A deadline that threads share passes for all of them, and can be moved', async (t) => {
  const deadline = new SharedDeadline();
  const elsewhere = new SharedDeadline(deadline.shared);
  t.equal(elsewhere.hasPassed, true, 'before it is set');
  deadline.leftMs = 60_000;
  t.equal(elsewhere.hasPassed, false);
  deadline.leftMs = Number.NEGATIVE_INFINITY;
  t.equal(elsewhere.hasPassed, true);
});

t.test('A session whose node may not act any more sends nothing to its browser', async (t) => {
  const lease = await openBrowser(t);
  const deadline = new SharedDeadline();
  deadline.leftMs = 600_000;
  const bounds = { signal: new AbortController().signal, deadlineMs: 60_000 };
  const channel = await DevToolsChannel.open(lease.devTools(), { ...bounds, actsUntil: deadline.shared });
  t.teardown(() => channel.close());
  const answered: number[] = [];
  const link = await channel.join(
    { message: (text) => answered.push(JSON.parse(text).id), closed: () => undefined },
    bounds,
  );
  const ask = (id: number) => link.send(JSON.stringify({ id, method: 'Browser.getVersion' }), undefined);
  ask(1);
  await eventually('an answer', () => answered.includes(1));
  deadline.leftMs = 0;
  ask(2);
  deadline.leftMs = 600_000;
  ask(3);
  await eventually('the next answer', () => answered.includes(3));
  t.same(answered, [1, 3]);
});
