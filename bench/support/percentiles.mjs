/** The value under which `part` (0 to 1) of the samples lie, by the nearest rank. */
export function percentile(samples, part) {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(part * sorted.length));
  return sorted[rank - 1];
}

export function percentiles(samples) {
  return { p50: percentile(samples, 0.5), p95: percentile(samples, 0.95), p99: percentile(samples, 0.99) };
}
