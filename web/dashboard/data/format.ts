import type { SessionRecord } from '../../../src/protocol/session.js';

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
  return name ?? (prompt?.split('\n')[0] || flowFiles.join(', ') || (mode === 'live' ? 'Session' : 'Run'));
}
