import t from 'tap';
import type { SessionEvent } from '#troupe/protocol/events.js';
import type { SessionChild } from '#troupe/supervisor/sessions/session-child.js';
import { CONTROL_IDLE_MS, CONTROL_LEFT_MS, SessionControl } from '#troupe/supervisor/sessions/session-control.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** A session's control, whose actor writes down who has the wheel. */
function desk() {
  const clock = new ManualClock();
  const told: SessionEvent[] = [];
  const wheel: string[] = [];
  const ref = {
    ask: async (_command: string, order: { readonly to?: string }) => {
      if (order.to !== undefined) wheel.push(order.to);
    },
    tell: () => undefined,
  } as unknown as SessionChild['ref'];
  const control = new SessionControl({
    clock,
    actor: () => ref,
    emit: (event) => told.push(event),
    touched: () => undefined,
  });
  return { clock, control, told, wheel };
}

t.test('Control with which nothing is done goes back to the agent after five minutes', async (t) => {
  const { clock, control, told, wheel } = desk();
  const key = await control.take('127.0.0.1', false);
  clock.advance(CONTROL_IDLE_MS - 1);
  await control.input(key, [{ kind: 'text', text: 'a sign of life' }]);
  clock.advance(CONTROL_IDLE_MS - 1);
  t.equal(control.controller, 'person');
  clock.advance(1);
  t.equal(control.controller, 'agent');
  t.same(wheel, ['person', 'agent']);
  t.match(told.at(-1), { type: 'ControlReturned', data: { reason: 'idle' } });
  await t.rejects(control.input(key, []), { code: 'SESSION_BUSY' });
});

t.test('Control goes back ten seconds after the last page of its holder, and not when one comes again', async (t) => {
  const { clock, control, told } = desk();
  const key = await control.take('127.0.0.1', false);
  const [one, other] = [control.attach(key), control.attach(key)];
  one();
  clock.advance(2 * CONTROL_LEFT_MS);
  other();
  clock.advance(CONTROL_LEFT_MS - 1);
  const again = control.attach(key);
  clock.advance(2 * CONTROL_LEFT_MS);
  t.equal(control.controller, 'person');
  again();
  again();
  clock.advance(CONTROL_LEFT_MS);
  t.equal(control.controller, 'agent');
  t.match(told.at(-1), { type: 'ControlReturned', data: { reason: 'left' } });
});

t.test('Whoever takes control over from another has a key of their own, and the other one none', async (t) => {
  const { control } = desk();
  const first = await control.take('10.0.0.1', false);
  await t.rejects(control.take('10.0.0.2', false), { code: 'SESSION_BUSY', details: { by: '10.0.0.1' } });
  const second = await control.take('10.0.0.2', true);
  t.not(first, second);
  t.notOk(control.holds(first));
  t.ok(control.holds(second));
});
