import { Journal } from '#troupe/journal/journal.js';
import type { ErrorCode } from '#troupe/protocol/errors.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import { SessionId, type SessionRecord } from '#troupe/protocol/session.js';
import { session } from '../journal/stored-sessions.js';
import { randomOf } from './sampled.js';

const HOUR_MS = 3_600_000;
/** Of each run; what is left over are sessions of their own. */
const FLOWS_OF_A_RUN = 12;
/** Each flow: how often it fails and how often it needs a second attempt, of 100; how long it takes; why it fails. */
const FLOWS: readonly (readonly [string, number, number, number, ErrorCode])[] = [
  ['account/change-password', 1, 2, 3_100, 'MATCH_FAILED'],
  ['account/login', 0, 1, 900, 'LOCATOR_NOT_FOUND'],
  ['account/login-with-two-factors', 12, 20, 6_400, 'WAIT_TIMEOUT'],
  ['cart/add', 1, 0, 1_400, 'LOCATOR_NOT_FOUND'],
  ['cart/remove-the-last-one', 3, 4, 1_700, 'LOCATOR_AMBIGUOUS'],
  ['checkout/pay-by-card', 6, 9, 12_800, 'REQUEST_FAILED'],
  ['checkout/pay-by-invoice', 4, 2, 9_300, 'MATCH_FAILED'],
  ['checkout/ship-to-another-address-than-the-one-of-the-invoice', 2, 3, 8_200, 'MATCH_FAILED'],
  ['search/by-name', 0, 0, 700, 'MATCH_FAILED'],
  ['search/sort-by-price', 0, 12, 1_100, 'MATCH_FAILED'],
  ['orders/cancel', 2, 1, 2_600, 'LOCATOR_STALE'],
  ['orders/download-the-invoice', 25, 8, 31_000, 'HARD_TIMEOUT'],
];

/** Fills the journal of a home with ended sessions of the last 30 days, of which most belong to nightly runs. The service must not run. */
export async function fillHome(home: string, count: number, now: number): Promise<void> {
  const random = randomOf(3);
  const chance = (percent: number) => random() * 100 < percent;
  const iso = (ms: number) => new Date(ms).toISOString();
  const journal = await Journal.open({ file: `${home}/troupe.db` });
  const runs = Math.floor(count / (FLOWS_OF_A_RUN + 0.5));
  const since = now - 30 * 24 * HOUR_MS;
  for (let n = 0, run = 0; n < count; run += 1) {
    const inRun = run < runs;
    const batch = inRun ? `b${String(run).padStart(11, '0')}` : null;
    const began = inRun ? since + ((run + 1) / (runs + 1)) * (now - since) : since + random() * (now - since - HOUR_MS);
    const labels = {
      branch: chance(70) ? 'main' : 'cart-without-script',
      commit: Math.floor(random() * 2 ** 32).toString(16),
    };
    const records: ReturnType<typeof session>[] = [];
    const events: ReturnType<typeof eventRow>[] = [];
    for (const [flow, fails, flakes, ms, code] of inRun ? FLOWS : FLOWS.slice(0, 1)) {
      n += 1;
      const isFailed = inRun && chance(fails);
      const isFlaky = inRun && !isFailed && chance(flakes);
      const durationMs = ms * (0.8 + random() * 0.5);
      const endedMs = began + 2_000 + durationMs * (isFlaky ? 2 : 1);
      const error = { error: whyOf(code), code, details: { flow, line: 7, column: 3 } };
      const record: Partial<SessionRecord> = {
        name: inRun ? flow : 'Looked around',
        mode: inRun ? 'auto' : 'live',
        labels: inRun ? labels : {},
        batch,
        prompt: inRun ? flow : null,
        flowFiles: inRun ? [`${flow}.js`] : [],
        status: isFailed ? 'failed' : 'completed',
        state: isFailed ? 'failed' : 'completed',
        attempt: isFlaky ? 2 : 1,
        queuePosition: null,
        createdAt: iso(began),
        startedAt: iso(began + 2_000),
        endedAt: iso(endedMs),
        lastActivityAt: iso(endedMs),
        endReason: inRun ? 'finished' : 'idle',
        error: isFailed ? error : null,
        driver: 'process',
      };
      const id = SessionId.parse(`s${String(n).padStart(11, '0')}`);
      records.push(session(n, record));
      if (!inRun) continue;
      const ended = (status: 'passed' | 'failed', atMs: number) =>
        eventRow(
          id,
          {
            type: 'FlowFinished',
            data: { path: flow, depth: 1, status, durationMs, ...(status === 'failed' ? { error } : {}) },
          },
          iso(atMs),
        );
      if (isFlaky) events.push(ended('failed', endedMs - durationMs));
      events.push(ended(isFailed ? 'failed' : 'passed', endedMs));
    }
    const keyValues = batch === null ? [] : [batchOf(batch, iso(began), labels, records.length)];
    await journal.write({ records, events, keyValues });
  }
  await journal.close();
}

function batchOf(id: string, createdAt: string, labels: object, total: number) {
  const data = { id, createdAt, name: 'Nightly', labels, parallel: null, total, after: 0, cancelled: false };
  return { kind: 'batch', id, data } as const;
}

function whyOf(code: ErrorCode): string {
  if (code === 'MATCH_FAILED') return "Expected 'Total: $ 42.00', received 'Total: $ 41.00'";
  if (code === 'REQUEST_FAILED') return 'GET /api/cart: net::ERR_CONNECTION_RESET';
  if (code === 'HARD_TIMEOUT') return 'The run took longer than its time limit of 30 s';
  return `No visible element matches the locator role=button[name="Continue"]`;
}
