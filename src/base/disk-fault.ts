/** What the system says when nothing can be written, and what to do. */
const FAULTS: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full; free disk space in the service's home, or set a smaller `retention`",
  EDQUOT: "the disk quota is used up; free disk space in the service's home, or set a smaller `retention`",
  EROFS: 'the file system is read-only; mount it for writing',
  EIO: 'the disk reports an error; check the disk',
};

/** The fault of a disk, as a sentence that names the remedy; null for any other error. */
export function diskFault(thrown: unknown): { readonly cause: string; readonly sentence: string } | null {
  const cause: unknown = thrown instanceof Error ? Reflect.get(thrown, 'code') : undefined;
  if (typeof cause !== 'string' || !Object.hasOwn(FAULTS, cause)) return null;
  return { cause, sentence: `Nothing can be written: ${FAULTS[cause]}` };
}
