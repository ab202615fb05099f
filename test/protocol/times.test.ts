import t from 'tap';
import { SessionId } from '#troupe/protocol/session.js';
import { formatDuration, queuedMs, ranMs, waitText } from '#troupe/protocol/times.js';
import {
  acceptedRecord,
  endedRecord,
  startedRecord,
  waitingRecord,
} from '#troupe/supervisor/sessions/session-record.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const at = (seconds: number) => new Date(START + seconds * 1000);
const record = acceptedRecord(
  SessionId.parse('abcdefghijkl'),
  { mode: 'auto', prompt: '', flowFiles: ['buy.js'], retries: 2 },
  { maxIterations: 0, model: null, publicUrl: undefined, now: at(0) },
);
const started = (of: typeof record, seconds: number) =>
  startedRecord(of, { driver: 'process', isStored: false, now: at(seconds) });
const FAILED = {
  status: 'failed',
  reason: 'finished',
  summary: null,
  error: { error: 'x', code: 'FLOW_FAILED' },
} as const;

t.test('A job that was tried three times took as long as its attempts', async (t) => {
  // Queued 10 s, runs 2 s, waits 40 s, runs 3 s, waits 1 s, runs 4 s.
  let job = record;
  t.equal(ranMs(job, at(4).getTime()), null);
  t.equal(queuedMs(job, at(4).getTime()), 4_000);
  job = started(job, 10);
  t.equal(ranMs(job, at(11).getTime()), 1_000);
  job = waitingRecord(job, 2, at(12));
  t.equal(ranMs(job, at(30).getTime()), 2_000, 'it does not run while it is queued again');
  job = started(job, 52);
  t.equal(ranMs(job, at(53).getTime()), 3_000);
  job = started(waitingRecord(job, 3, at(55)), 56);
  job = endedRecord(job, FAILED, at(60));
  t.equal(ranMs(job, at(99).getTime()), 9_000);
  t.equal(queuedMs(job, at(99).getTime()), 10_000);
  t.equal(job.pausedMs, 41_000);
  t.equal(job.retries, 2);
  const waits = { queuedMs: queuedMs(job, 0), pausedMs: job.pausedMs ?? 0 };
  t.equal(waitText(waits), '10.0 s in the queue, 41.0 s between attempts');
});

t.test('A job that is stopped between two attempts did not run in between', async (t) => {
  const job = endedRecord(waitingRecord(started(record, 1), 2, at(3)), { ...FAILED, status: 'stopped' }, at(50));
  t.equal(ranMs(job, 0), 2_000);
  t.equal(job.pausedMs, 47_000);
});

t.test('A job that is stopped in the queue never ran', async (t) => {
  const job = endedRecord(record, { ...FAILED, status: 'stopped' }, at(50));
  t.equal(ranMs(job, 0), null);
  t.equal(job.pausedMs, undefined);
  t.equal(queuedMs(job, 0), 50_000);
});

t.test('Times in words', async (t) => {
  t.same([0, 340, 999.4, 999.6, 1_900, 59_949, 59_950, 185_000, 3_600_000].map(formatDuration), [
    '0 ms',
    '340 ms',
    '999 ms',
    '1.0 s',
    '1.9 s',
    '59.9 s',
    '1 min 00 s',
    '3 min 05 s',
    '1 h 00 min',
  ]);
  t.equal(waitText({ queuedMs: 999, pausedMs: 999 }), null);
  t.equal(waitText({ queuedMs: 0, pausedMs: 1_000 }), '1.0 s between attempts');
});
