import t from 'tap';
import type { EndReason } from '#troupe/actors/actor.js';
import { DEFAULT_RESTART_BOUNDS, decideRestart, type RestartBounds } from '#troupe/actors/restart-policy.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const BOUNDS: RestartBounds = { intensity: 3, periodMs: 1_000, firstDelayMs: 10, maxDelayMs: 25, jitter: 0.5 };
const REASONS: readonly EndReason[] = ['normal', 'shutdown', 'crash', 'hang', 'lost'];

t.test('permanent restarts after every end, transient after faults, temporary never', async (t) => {
  const restarted = (restart: 'permanent' | 'transient' | 'temporary') =>
    REASONS.filter((reason) => {
      const past = { history: [], nowMs: 0, random: () => 0 };
      return decideRestart(restart, reason, DEFAULT_RESTART_BOUNDS, past).kind === 'restart';
    });
  t.same(restarted('permanent'), REASONS);
  t.same(restarted('transient'), ['crash', 'hang', 'lost']);
  t.same(restarted('temporary'), []);
});

/** Restarts at each of these times, as far as the policy allows. */
function restartAt(times: readonly number[], random = () => 0): readonly (number | 'end')[] {
  let history: readonly number[] = [];
  return times.map((nowMs) => {
    const decision = decideRestart('permanent', 'crash', BOUNDS, { history, nowMs, random });
    if (decision.kind === 'end') return 'end';
    history = decision.history;
    return decision.delayMs;
  });
}

t.test('the fourth end within the period is the last, and one after it is not', async (t) => {
  t.same(restartAt([0, 1, 2, 999]), [10, 20, 25, 'end']);
  t.same(restartAt([0, 1, 2, 1_000]), [10, 20, 25, 25]);
});

t.test('a delay doubles with each restart within the period, up to its most, and begins anew after it', async (t) => {
  t.same(restartAt([0, 500, 5_000]), [10, 20, 10]);
});

t.test('chance takes at most the jitter off a delay', async (t) => {
  t.same(
    restartAt([0, 1], () => 1),
    [5, 10],
  );
  t.same(
    restartAt([0, 1], () => 0.5),
    [7.5, 15],
  );
});
