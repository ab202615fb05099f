import t from 'tap';
import { FairLane } from '#troupe/supervisor/jobs/fair-lane.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const everybody = () => true;

function laneOf(waiters: { readonly [caller: string]: number }) {
  const clock = new ManualClock();
  const lane = new FairLane<string>(() => clock.now().getTime());
  for (const [caller, count] of Object.entries(waiters)) {
    for (let number = 1; number <= count; number += 1) lane.add(caller, `${caller}${number}`, `${caller}${number}`);
  }
  return { clock, lane };
}

t.test('Callers take turns, each with its own in order, and positions say so beforehand', (t) => {
  const { lane } = laneOf({ a: 4, b: 2, c: 1 });
  const expected = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'];
  t.same(
    expected.map((id) => lane.position(id)),
    [1, 2, 3, 4, 5, 6, 7],
  );
  t.same(
    expected.map(() => lane.next(everybody)),
    expected,
  );
  t.equal(lane.next(everybody), undefined);
  t.equal(lane.size, 0);
  t.end();
});

t.test('A caller that had much yields to a later one, until its past has faded', (t) => {
  const { clock, lane } = laneOf({ flood: 8 });
  for (let taken = 0; taken < 4; taken += 1) lane.next(everybody);
  for (const id of ['late1', 'late2']) lane.add('late', id, id);
  t.same([lane.next(everybody), lane.next(everybody)], ['late1', 'late2']);
  clock.advance(60 * 60_000);
  lane.add('late', 'late3', 'late3');
  t.equal(lane.next(everybody), 'flood5', 'after an hour nobody had anything, and the longest waiter is first');
  t.end();
});

t.test('A caller that may not enter keeps its turn, and what has left is not admitted', (t) => {
  const { lane } = laneOf({ a: 2, b: 1 });
  t.equal(
    lane.next((caller) => caller !== 'a'),
    'b1',
  );
  t.equal(lane.remove('a1'), true);
  t.equal(lane.remove('a1'), false);
  t.equal(lane.position('a1'), null);
  t.equal(lane.sizeOf('a'), 1);
  t.equal(lane.next(everybody), 'a2');
  t.end();
});
