import t from 'tap';
import { isRepeatedStop } from '#troupe/supervisor/batches/repeated-stop.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A DELETE counts as the repetition of one that stopped something for 60 s', async (t) => {
  const clock = new ManualClock();
  t.notOk(isRepeatedStop(null, clock.now()), 'what has not ended was not stopped');
  const endedAt = clock.now().toISOString();
  t.ok(isRepeatedStop(endedAt, clock.now()));
  clock.advance(59_999);
  t.ok(isRepeatedStop(endedAt, clock.now()));
  clock.advance(1);
  t.notOk(isRepeatedStop(endedAt, clock.now()));
  const setBack = new Date(Date.parse(endedAt) - 3_600_000);
  t.notOk(isRepeatedStop(endedAt, setBack), 'a clock that was set back keeps nothing from being removed');
});
