import type { StoredSession } from '#troupe/journal/journal.js';
import { type EventRow, eventRow } from '#troupe/protocol/event-row.js';
import type { NewEvent } from '#troupe/protocol/events.js';
import { SessionId, SessionRecord } from '#troupe/protocol/session.js';

export const idOf = (n: number) => SessionId.parse(`s${String(n).padStart(11, '0')}`);

export function session(n: number, changes: Partial<SessionRecord> = {}): StoredSession {
  const id = idOf(n);
  const at = '2026-01-02T03:04:05.678Z';
  const record = SessionRecord.parse({
    id,
    sessionId: id,
    mode: 'auto',
    name: null,
    labels: { branch: 'main' },
    batch: null,
    status: 'queued',
    state: 'queued',
    prompt: 'Buy a lamp; "quotes", ümlauts, \u{1f4a1} and \ud800',
    flowFiles: ['shop/login.js'],
    model: null,
    maxIterations: 0,
    iterations: 0,
    attempt: 1,
    queuePosition: 3,
    createdAt: at,
    startedAt: null,
    endedAt: null,
    lastActivityAt: at,
    endReason: null,
    summary: null,
    error: null,
    tokens: { input: 0, cached: 0, output: 0 },
    driver: null,
    links: { self: '', proxy: '', prompt: '', download: '', events: '', view: '' },
    ...changes,
  });
  return { record, lease: null };
}

export const said = (n: number, text: string): EventRow =>
  eventRow(idOf(n), { type: 'ConsoleWritten', data: { level: 'log', text } }, '2026-01-02T03:04:06.000Z');

export const textsOf = (events: readonly NewEvent[]) =>
  events.map((event) => (event.type === 'ConsoleWritten' ? event.data.text : event.type));
