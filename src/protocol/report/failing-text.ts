import type { FailingSince } from '../stats.js';

/** With which commit a flow began to fail, as a sentence. @param branch null if the service was asked for all */
export function failingText({ commit, at, passedWith }: FailingSince, branch: string | null): string {
  const where = `${branch === null ? '' : ` on ${branch}`}, ${at.slice(0, 10)}`;
  if (passedWith === null) return `It has failed since its first known run: with ${shortCommit(commit)}${where}`;
  if (passedWith === commit) return `It passed and then failed with the same commit: ${shortCommit(commit)}${where}`;
  return `It failed first with ${shortCommit(commit)}${where}; before that, it passed with ${shortCommit(passedWith)}`;
}

/** A hash is cut to eight digits. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit;
}
