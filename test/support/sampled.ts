import { SEED } from './seed.js';

/** Whether this run has every case of a test, however long that takes: `TROUPE_CASES=all`, as in jobs of `npm run nightly`. */
export const hasAllCases = process.env.TROUPE_CASES === 'all';

/**
 * The cases to run: all of them where this run has every case, else `count` of them, chosen by the seed and by `name`,
 * in their own order.
 */
export function sampled<Case>(
  cases: readonly Case[],
  { name, count }: { readonly name: string; readonly count: number },
): readonly Case[] {
  if (hasAllCases || cases.length <= count) return cases;
  const random = randomOf([...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), SEED));
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(Math.floor(random() * cases.length));
  return cases.filter((_, index) => chosen.has(index));
}

/** Numbers from 0 to 1 (mulberry32): even enough to choose by, and the same on every machine. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
