import t from 'tap';
import { WorkTurns } from '#troupe/supervisor/events/work-turns.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('Work of many gives the event loop back when it has taken two milliseconds together', async (t) => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  let laps = 0;
  let inThisLap = 0;
  let most = 0;
  let over = false;
  const lap = () => {
    laps += 1;
    inThisLap = 0;
    if (!over) setImmediate(lap);
  };
  setImmediate(lap);
  const worker = async () => {
    for (let piece = 0; piece < 10; piece += 1) {
      await turns.next();
      nowMs += 1;
      inThisLap += 1;
      most = Math.max(most, inThisLap);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  over = true;
  t.ok(laps >= 60, `200 ms of work were done in ${laps} turns of the event loop`);
  t.ok(most <= 3, `${most} ms of work were done in one turn`);
});

t.test('All who ask have their turn, in the order of asking', async (t) => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const order: number[] = [];
  const worker = async (number: number) => {
    for (let piece = 0; piece < 3; piece += 1) {
      await turns.next();
      order.push(number);
      nowMs += 5;
    }
  };
  await Promise.all([0, 1, 2].map(worker));
  t.same(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
});
