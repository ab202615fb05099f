/** Runs `work` for each item, `atOnce` at a time, in their order. */
export async function eachAtOnce<T>(
  atOnce: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const left = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
