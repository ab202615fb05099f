import type { SessionRecord } from '../../../src/protocol/session.js';

/** A duration for people: `830 ms`, `2.4 s`, `3 min 20 s`, `5 h 2 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The time since an instant, from `now` in milliseconds. */
export function ago(instant: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(instant)) / 1000);
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The time of day to the second, in the local format. */
export function clockTime(instant: string): string {
  return new Date(instant).toLocaleTimeString();
}

/** A count for a narrow column: `812`, `4.1 k`, `1.3 M`. */
export function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1e6 ? `${(count / 1000).toFixed(1)} k` : `${(count / 1e6).toFixed(1)} M`;
}

/** A size for people: `812 B`, `4.1 KB`, `1.3 MB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** A value as one line of JSON, truncated if it is long. */
export function oneLine(value: unknown, length = 300): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)} …` : text;
}

/** The title of a session: its name, else its task. */
export function titleOf({ name, prompt, flowFiles, mode }: SessionRecord): string {
  return name ?? (prompt?.split('\n')[0] || flowFiles.join(', ') || (mode === 'live' ? 'Live session' : 'Job'));
}

/** How long a session has run; null before its start. */
export function spentMs({ startedAt, endedAt }: SessionRecord, now: number): number | null {
  if (startedAt === null) return null;
  return Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt));
}

/** What came of a session beyond its state: what it does, or its summary unless that only repeats the state. */
export function resultOf({ status, summary }: SessionRecord, doing: string | null): string {
  if (status === 'completed' && /^(The flow|All \d+ flows) passed$/.test(summary ?? '')) return '';
  return (status === 'running' ? doing : null) ?? summary ?? doing ?? '';
}
