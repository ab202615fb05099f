import t from 'tap';
import { BatchGate } from '#troupe/supervisor/jobs/batch-gate.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

function gateOf(parallel: number, jobs: number) {
  const gate = new BatchGate();
  const entered: string[] = [];
  gate.open('b', parallel, jobs);
  const names = Array.from({ length: jobs }, (_, index) => `j${index}`);
  for (const name of names) gate.pass('b', name, () => entered.push(name));
  return { gate, entered };
}

t.test('A batch has as many jobs inside as it says, in the order of their coming', async (t) => {
  const { gate, entered } = gateOf(2, 5);
  t.same(entered, ['j0', 'j1']);
  gate.leave('j1');
  t.same(entered, ['j0', 'j1', 'j2']);
  gate.leave('j1');
  t.same(entered, ['j0', 'j1', 'j2'], 'a job leaves once');
  for (const name of ['j0', 'j2', 'j3', 'j4']) gate.leave(name);
  t.same(entered, ['j0', 'j1', 'j2', 'j3', 'j4']);
});

t.test('A job that is refused never enters, and holds nobody up', async (t) => {
  const { gate, entered } = gateOf(1, 3);
  gate.refuse('j1');
  gate.leave('j1');
  t.same(entered, ['j0']);
  gate.leave('j0');
  t.same(entered, ['j0', 'j2']);
});

t.test('Jobs of no batch, and of batches that say nothing, pass at once', async (t) => {
  const { gate } = gateOf(1, 1);
  const entered: string[] = [];
  gate.pass(null, 'a', () => entered.push('a'));
  gate.pass('other', 'c', () => entered.push('c'));
  gate.leave('a');
  t.same(entered, ['a', 'c']);
});

t.test('A batch whose last job has left is forgotten, and may be opened again', async (t) => {
  const { gate, entered } = gateOf(1, 2);
  gate.leave('j0');
  gate.leave('j1');
  gate.pass('b', 'late', () => entered.push('late'));
  gate.pass('b', 'later', () => entered.push('later'));
  t.same(entered.slice(2), ['late', 'later']);
});
