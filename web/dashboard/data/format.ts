/** A duration for people: `830 ms`, `2.4 s`, `3 min 20 s`, `5 h 2 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago an instant was, from `now` in milliseconds. */
export function ago(instant: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(instant)) / 1000);
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A value as one line of JSON, cut where it is long. */
export function oneLine(value: unknown, length = 300): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)} …` : text;
}
