/** A text in three parts: what it shares with another at its start, what differs, and what it shares at its end. */
export type DifferenceParts = readonly [start: string, middle: string, end: string];

/** Two texts, each divided where they differ. Surrogate pairs stay whole. */
export function difference(one: string, other: string): readonly [DifferenceParts, DifferenceParts] {
  const [a, b] = [[...one], [...other]];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const parts = (of: readonly string[]): DifferenceParts => [
    of.slice(0, start).join(''),
    of.slice(start, of.length - end).join(''),
    of.slice(of.length - end).join(''),
  ];
  return [parts(a), parts(b)];
}
