import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import { failingText } from '#troupe/protocol/report/failing-text.js';
import { SessionId } from '#troupe/protocol/session.js';
import { FlowCommits } from '#troupe/protocol/stats.js';
import { flowCommits } from '#troupe/supervisor/jobs/flow-commits.js';
import { acceptedRecord } from '#troupe/supervisor/sessions/index.js';
import { ManualClock } from '../actors/manual-clock.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const FIRST = '1111111111111111111111111111111111111111';
const SECOND = '2222222222222222222222222222222222222222';
const idOf = (n: number) => SessionId.parse(`s${String(n).padStart(11, '0')}`);

t.test(
  'The history of a flow over commits is listed by branch, with the first commit that it failed with',
  async (t) => {
    const journal = await Journal.open(await journalPlace(t, `${t.testdir({})}/troupe.db`));
    t.teardown(() => journal.close());
    let days = 0;
    /** A job of a day of its own, with its attempts. */
    const ran = async (labels: Record<string, string>, ...attempts: ('passed' | 'failed')[]) => {
      days += 1;
      const id = idOf(days);
      const defaults = { maxIterations: 0, publicUrl: undefined, model: null, batch: undefined, trace: 'off' } as const;
      const record = acceptedRecord(id, { mode: 'auto', prompt: 'x', labels }, { ...defaults, now: new Date(0) });
      const events = attempts.map((status, attempt) =>
        eventRow(
          id,
          { type: 'FlowFinished', data: { path: 'buy', depth: 1, status, durationMs: 5 } },
          new Date(Date.UTC(2025, 10, days, 12, attempt)).toISOString(),
        ),
      );
      await journal.write({ records: [{ record, lease: null }], events });
    };
    const known = async (query: { readonly branch?: string; readonly until?: string } = {}) =>
      FlowCommits.parse(await flowCommits(journal, new ManualClock(), { flow: 'buy', ...query }));
    t.match(await known(), { branches: [], failing: null, commits: [] });
    await ran({}, 'failed');
    t.match(await known(), { failing: null, commits: [] }, 'a run without a commit is in no history of commits');
    await ran({ commit: FIRST, branch: 'main' }, 'failed', 'passed');
    await ran({ commit: SECOND, branch: 'topic' }, 'failed');
    t.match((await known({ branch: 'topic' })).failing, { commit: SECOND, passedWith: null }, 'of this branch alone');
    t.equal((await known({ branch: 'main' })).failing, null, 'the last attempt counts');
    await ran({ commit: 'abc', branch: 'main' }, 'failed');
    await ran({ commit: SECOND, branch: 'main' }, 'failed');
    await ran({ commit: SECOND, branch: 'main' }, 'failed');
    const main = await known({ branch: 'main' });
    t.match(main, { branch: 'main', failing: { commit: 'abc', at: '2025-11-04T12:00:00.000Z', passedWith: FIRST } });
    t.match(main.commits, [
      { commit: SECOND, runs: 2, passed: 0, failed: 2, lastPassed: false, session: idOf(6) },
      { commit: 'abc', runs: 1, failed: 1 },
      { commit: FIRST, branch: 'main', runs: 1, passed: 1, failed: 0, lastPassed: true },
    ]);
    t.equal((await known({ branch: 'main', until: '2025-11-04T00:00:00.000Z' })).failing, null, 'as it was before');
    t.same((await known()).branches, ['main', 'topic']);
    await ran({ commit: SECOND, branch: 'main' }, 'passed');
    t.equal((await known({ branch: 'main' })).failing, null);
    await journal.remove(idOf(7));
    t.match((await known({ branch: 'main' })).commits[0], { runs: 3, lastPassed: true }, 'it outlives sessions');
  },
);

t.test('Since when a flow fails is one sentence', async (t) => {
  const at = '2025-11-04T12:00:00.000Z';
  t.equal(
    failingText({ commit: SECOND, at, passedWith: FIRST }, 'main'),
    'It failed first with 22222222 on main, 2025-11-04; before that, it passed with 11111111',
  );
  t.equal(
    failingText({ commit: 'v1.2', at, passedWith: null }, null),
    'It has failed since its first known run: with v1.2, 2025-11-04',
  );
  t.equal(
    failingText({ commit: 'v1.2', at, passedWith: 'v1.2' }, 'main'),
    'It passed and then failed with the same commit: v1.2 on main, 2025-11-04',
  );
});
