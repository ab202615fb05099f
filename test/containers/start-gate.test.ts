import t from 'tap';
import { StartGate } from '#troupe/containers/start-gate.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const { signal } = new AbortController();

t.test('A gate lets as many through as it has places, and the others in their order', async (t) => {
  const gate = new StartGate(2);
  const order: number[] = [];
  const entries = [0, 1, 2, 3].map(async (index) => {
    const leave = await gate.enter(signal);
    order.push(index);
    return leave;
  });
  const [first, second] = await Promise.all(entries.slice(0, 2));
  t.same(order, [0, 1]);
  second?.();
  second?.();
  await entries[2];
  t.same(order, [0, 1, 2], 'a place given back twice is one place');
  first?.();
  await entries[3];
});

t.test('Whoever gives up waiting loses only their own turn', async (t) => {
  const gate = new StartGate(1);
  const leave = await gate.enter(signal);
  const impatient = new AbortController();
  const gaveUp = gate.enter(impatient.signal);
  const patient = gate.enter(signal);
  impatient.abort(new Error('too long'));
  await t.rejects(gaveUp, { message: 'too long' });
  leave();
  (await patient)();
  (await gate.enter(signal))();
  await t.rejects(gate.enter(AbortSignal.abort(new Error('before'))), { message: 'before' });
});
