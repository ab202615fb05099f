import t from 'tap';
import type { Failure } from '#troupe/protocol/report/failure.js';
import { SessionId, type SessionRecord } from '#troupe/protocol/session.js';
import { recordText, type StateFacts, stateOfRecord, stateText } from '#troupe/protocol/state-text.js';
import { acceptedRecord } from '#troupe/supervisor/sessions/session-record.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const FAILURE: Failure = {
  code: 'MATCH_FAILED',
  message: 'differs',
  flow: 'shop/checkout',
  file: 'e2e/shop/checkout.ts',
  line: 31,
  column: 3,
  step: { index: 9, number: 7, js: 'agent.text("{p}")', url: '', title: '' },
};
const FACTS: StateFacts = { state: 'failed', ms: 12_400, attempt: 2, attempts: 2, failure: FAILURE };

t.test('A state is one sentence, of what is known', async (t) => {
  const cases: readonly (readonly [Partial<StateFacts>, string])[] = [
    [{}, 'Failed in 12.4 s at step 7, shop/checkout.ts:31: MATCH_FAILED (attempt 2 of 2)'],
    [{ attempt: 1, attempts: 1 }, 'Failed in 12.4 s at step 7, shop/checkout.ts:31: MATCH_FAILED'],
    // Without a column the place is after the line.
    [
      { failure: { code: 'MATCH_FAILED', flow: 'buy', line: 3 } },
      'Failed in 12.4 s after buy.js:3: MATCH_FAILED (attempt 2 of 2)',
    ],
    [{ failure: { code: 'HARD_TIMEOUT' } }, 'Failed in 12.4 s: HARD_TIMEOUT (attempt 2 of 2)'],
    [{ failure: null, ms: null, attempts: 1 }, 'Failed'],
    // The step is the last one before the error of the flow's own code.
    [
      { failure: { ...FAILURE, step: { index: 9, js: '', url: '', title: '', before: true } }, attempts: 1 },
      'Failed in 12.4 s at shop/checkout.ts:31: MATCH_FAILED',
    ],
    [{ state: 'passed', attempt: 1, attempts: 3 }, 'Passed in 12.4 s'],
    [{ state: 'completed', attempt: 1, attempts: 1 }, 'Passed in 12.4 s'],
    [{ state: 'flaky' }, 'Flaky: passed in 12.4 s (attempt 2 of 2)'],
    [
      { state: 'repaired', attempts: 1 },
      'Repaired in 12.4 s after MATCH_FAILED at step 7, shop/checkout.ts:31: a model finished the run',
    ],
    [{ state: 'skipped', why: 'all of its tests were skipped' }, 'Skipped: all of its tests were skipped'],
    [{ state: 'queued', ms: null, attempt: 1, why: 'number 3' }, 'Queued, number 3'],
    [{ state: 'queued' }, 'Queued for attempt 2 of 2'],
    [{ state: 'running', attempts: 1 }, 'Running for 12.4 s'],
    [{ state: 'running', why: 'waits for a person' }, 'Running for 12.4 s: waits for a person (attempt 2 of 2)'],
    [{ state: 'stopped', why: 'it was idle' }, 'Stopped after 12.4 s: it was idle'],
    [{ state: 'not run', ms: null, why: 'it was not started', failure: null }, 'Not run: it was not started'],
    [{ state: 'not run', ms: null, failure: { code: 'NODE_LOST' } }, 'Not run: NODE_LOST'],
    [{ state: 'not run', attempts: 1, failure: { code: 'NODE_LOST' } }, 'Not finished: NODE_LOST after 12.4 s'],
    [{ state: 'not run', attempts: 1, failure: null }, 'Not finished: stopped after 12.4 s'],
  ];
  for (const [facts, text] of cases) t.equal(stateText({ ...FACTS, ...facts }), text, text);
});

t.test('The state of a record', async (t) => {
  const accepted = acceptedRecord(
    SessionId.parse('abcdefghijkl'),
    { mode: 'auto', prompt: '', flowFiles: ['shop/buy.ts'], retries: 1 },
    { maxIterations: 0, model: null, publicUrl: undefined, now: new Date('2026-01-02T03:04:05.000Z') },
  );
  const ran = { startedAt: '2026-01-02T03:04:10.000Z', endedAt: '2026-01-02T03:04:20.000Z', pausedMs: 1_000 };
  const cause = { code: 'MATCH_FAILED', error: 'differs', details: { flow: 'shop/buy', line: 5, column: 2 } };
  const error = { code: 'FLOW_FAILED', error: 'the flow failed', details: { cause } } as const;
  const cases: readonly (readonly [Partial<SessionRecord>, string, string])[] = [
    [{ queuePosition: 2 }, 'queued', 'Queued, position 2'],
    [{ ...ran, status: 'completed', endReason: 'finished' }, 'passed', 'Passed in 9.0 s'],
    [
      { ...ran, status: 'completed', attempt: 2, endReason: 'finished' },
      'flaky',
      'Flaky: passed in 9.0 s (attempt 2 of 2)',
    ],
    // What a model had to complete is neither passed nor flaky.
    [
      { ...ran, status: 'completed', attempt: 2, outcome: 'repaired' },
      'repaired',
      'Repaired in 9.0 s: a model finished the run (attempt 2 of 2)',
    ],
    [{ ...ran, status: 'completed', outcome: 'skipped' }, 'skipped', 'Skipped: all of its tests were skipped'],
    [{ ...ran, status: 'completed', flowFiles: ['task.md'] }, 'completed', 'Passed in 9.0 s'],
    [{ ...ran, status: 'failed', error }, 'failed', 'Failed in 9.0 s at shop/buy.ts:5: MATCH_FAILED (attempt 1 of 2)'],
    // Where the time was over, not what came of that.
    [
      { ...ran, status: 'failed', error: { ...error, code: 'HARD_TIMEOUT' } },
      'failed',
      'Failed in 9.0 s at shop/buy.ts:5: HARD_TIMEOUT (attempt 1 of 2)',
    ],
    [
      { ...ran, status: 'failed', error: { code: 'NODE_LOST', error: 'lost' } },
      'not run',
      'Not finished: NODE_LOST after 9.0 s (attempt 1 of 2)',
    ],
    [
      { endedAt: ran.endedAt, status: 'stopped', endReason: 'deleted' },
      'not run',
      'Not run: stopped before it started',
    ],
    [
      { ...ran, mode: 'live', flowFiles: [], retries: 0, status: 'stopped', endReason: 'idle' },
      'stopped',
      'Stopped after 9.0 s: it was idle',
    ],
    [
      { ...ran, mode: 'live', flowFiles: [], retries: 0, status: 'failed', error: { code: 'WORKER_LOST', error: 'x' } },
      'failed',
      'Failed in 9.0 s: WORKER_LOST',
    ],
  ];
  for (const [changes, state, text] of cases) {
    const record = { ...accepted, ...changes };
    t.same([stateOfRecord(record), recordText(record, 0)], [state, text], text);
  }
});
