/** `2026-01-02 03:04:05 UTC` of an ISO 8601 instant. */
export function formatInstant(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

/** `812 B`, `4.2 KB`, `3.1 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The text, truncated with the number of omitted characters. */
export function shorten(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${text.slice(0, characters)}… (${(text.length - characters).toLocaleString('en')} more characters)`;
}
