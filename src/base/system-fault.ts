const FULL = "free disk space in the service's home, or set a smaller `retention`";
const FILES = 'raise the limit of open files (ulimit -n, LimitNOFILE), or set a smaller `maxSessions`';
const PROCESSES = 'raise the limit of processes (ulimit -u, TasksMax), or set a smaller `maxSessions`';

/** Messages for system call errors: what is wrong, and what to do. */
const FAULTS: { readonly [code: string]: string } = {
  ENOSPC: `Nothing can be written: the disk is full; ${FULL}`,
  EDQUOT: `Nothing can be written: the disk quota is used up; ${FULL}`,
  EROFS: 'Nothing can be written: the file system is read-only; mount it for writing',
  EIO: 'The disk reports an error: check the disk, then try again',
  EMFILE: `The service has too many files open: ${FILES}`,
  ENFILE: 'The machine has too many files open: raise fs.file-max, or close other programs',
};

/** Messages for errors when a program is started. */
const SPAWN_FAULTS: { readonly [code: string]: string } = {
  EAGAIN: `No process can be started: ${PROCESSES}`,
  ENOMEM: 'No process can be started: free memory, or set a smaller `maxSessions`',
};

/** The code of a system or library error, such as ENOENT; undefined for anything else. */
export function errorCode(thrown: unknown): string | undefined {
  const code: unknown = Reflect.get(Object(thrown), 'code');
  return typeof code === 'string' ? code : undefined;
}

/**
 * For `.catch()` after accessing a file that may be missing.
 * @throws the error, unless it is ENOENT
 */
export function ifMissing(thrown: unknown): null {
  if (errorCode(thrown) === 'ENOENT') return null;
  throw thrown;
}

/** A system call that failed for lack of space, files, or processes, or because of a disk error. */
export interface SystemFault {
  /** The error code, such as ENOSPC. */
  readonly cause: string;
  /** What is wrong, and what to do. */
  readonly sentence: string;
}

/** The system fault behind an error; null for any other error. */
export function systemFault(thrown: unknown): SystemFault | null {
  const cause = errorCode(thrown);
  if (!(thrown instanceof Error) || cause === undefined) return null;
  const faults = String(Reflect.get(thrown, 'syscall')).startsWith('spawn') ? { ...FAULTS, ...SPAWN_FAULTS } : FAULTS;
  const sentence = Object.hasOwn(faults, cause) ? faults[cause] : undefined;
  return sentence === undefined ? null : { cause, sentence };
}

/** A message for people: the system fault with its remedy, or the error's own message. */
export function sentenceOf(thrown: unknown): string {
  return systemFault(thrown)?.sentence ?? (thrown instanceof Error ? thrown.message : String(thrown));
}

/**
 * For `.catch()` after a call whose failure means that something does not exist.
 * @throws the error if it is a system fault, which says nothing about existence
 */
export function asAbsent(thrown: unknown): null {
  if (systemFault(thrown) !== null) throw thrown;
  return null;
}
