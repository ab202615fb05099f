/**
 * Older Firefox wrote a quote twice and used no carets; like every browser, it doubled each backslash and asked for
 * `--compressed`.
 */
export function isOldFirefox(bytes: string): boolean {
  return / --compressed\b/.test(bytes) && /[^\s"]""|""[^\s"]/.test(bytes) && !/(?<!\\)\\(?:\\\\)*(?!\\)/.test(bytes);
}
