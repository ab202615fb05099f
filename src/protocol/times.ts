import type { SuiteTest } from './batches/suite.js';
import type { SessionRecord } from './session.js';

type Times = Pick<SessionRecord, 'status' | 'createdAt' | 'startedAt' | 'endedAt' | 'lastActivityAt' | 'pausedMs'>;

/**
 * How long a session's browser was at work, in milliseconds: its attempts together, without the time in the queue and the
 * pauses between attempts. Until `nowMs` if it runs. Null before the start.
 */
export function ranMs(
  { status, startedAt, endedAt, lastActivityAt, pausedMs = 0 }: Times,
  nowMs: number,
): number | null {
  if (startedAt === null) return null;
  // A job that is queued again has been in its pause since then.
  const until = endedAt ?? (status === 'queued' ? lastActivityAt : null);
  return Math.max(0, (until === null ? nowMs : Date.parse(until)) - Date.parse(startedAt) - pausedMs);
}

/** How long a session waited for its first browser, in milliseconds. Until `nowMs` if it still waits. */
export function queuedMs({ createdAt, startedAt, endedAt }: Times, nowMs: number): number {
  const until = startedAt ?? endedAt;
  return Math.max(0, (until === null ? nowMs : Date.parse(until)) - Date.parse(createdAt));
}

/** How long the attempts at a test took together, in milliseconds. */
export function testMs({ attempts }: Pick<SuiteTest, 'attempts'>): number {
  return attempts.reduce((total, { durationMs }) => total + durationMs, 0);
}

/** The record of a session that did not run from `since` until `now`. */
export function withPause(record: SessionRecord, since: string, now: Date): SessionRecord {
  const ms = Math.max(0, now.getTime() - Date.parse(since));
  return ms === 0 ? record : { ...record, pausedMs: (record.pausedMs ?? 0) + ms };
}

/** A wait that is shorter than this is not worth a word. */
const LEAST_WAIT_MS = 1_000;

/** `2.4 s in the queue, 41.0 s between attempts`; null if neither is worth a word. */
export function waitText({
  queuedMs,
  pausedMs,
}: {
  readonly queuedMs: number;
  readonly pausedMs: number;
}): string | null {
  const parts = [
    ...(queuedMs < LEAST_WAIT_MS ? [] : [`${formatDuration(queuedMs)} in the queue`]),
    ...(pausedMs < LEAST_WAIT_MS ? [] : [`${formatDuration(pausedMs)} between attempts`]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

/** `340 ms`, `4.2 s`, `3 min 05 s`, `1 h 02 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
