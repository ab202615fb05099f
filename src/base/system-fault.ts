const FULL = "free disk space in the service's home, or set a smaller `retention`";
const FILES = 'raise the limit of open files (ulimit -n, LimitNOFILE), or set a smaller `maxSessions`';
const PROCESSES = 'raise the limit of processes (ulimit -u, TasksMax), or set a smaller `maxSessions`';

/** What the system says when it refuses a call, and what to do. */
const FAULTS: { readonly [code: string]: string } = {
  ENOSPC: `Nothing can be written: the disk is full; ${FULL}`,
  EDQUOT: `Nothing can be written: the disk quota is used up; ${FULL}`,
  EROFS: 'Nothing can be written: the file system is read-only; mount it for writing',
  EIO: 'The disk reports an error: check the disk, then try again',
  EMFILE: `The service has too many files open: ${FILES}`,
  ENFILE: 'The machine has too many files open: raise fs.file-max, or close other programs',
};

/** The same, where a program was to be started. */
const SPAWN_FAULTS: { readonly [code: string]: string } = {
  EAGAIN: `No process can be started: ${PROCESSES}`,
  ENOMEM: 'No process can be started: free memory, or set a smaller `maxSessions`',
};

/** The code that an error of the system or of a library carries, such as ENOENT; undefined for anything else. */
export function errorCode(thrown: unknown): string | undefined {
  const code: unknown = Reflect.get(Object(thrown), 'code');
  return typeof code === 'string' ? code : undefined;
}

/**
 * For `.catch()` of a call for a file that need not be there.
 * @throws what was thrown, unless it says that there is no such file
 */
export function ifMissing(thrown: unknown): null {
  if (errorCode(thrown) === 'ENOENT') return null;
  throw thrown;
}

/** A call that the system refused for want of room, files or processes, or since the disk fails. */
export interface SystemFault {
  /** Its code, such as ENOSPC. */
  readonly cause: string;
  /** What is wrong and what to do. */
  readonly sentence: string;
}

/** The fault of the system, as a sentence that names the remedy; null for any other error. */
export function systemFault(thrown: unknown): SystemFault | null {
  const cause = errorCode(thrown);
  if (!(thrown instanceof Error) || cause === undefined) return null;
  const faults = String(Reflect.get(thrown, 'syscall')).startsWith('spawn') ? { ...FAULTS, ...SPAWN_FAULTS } : FAULTS;
  const sentence = Object.hasOwn(faults, cause) ? faults[cause] : undefined;
  return sentence === undefined ? null : { cause, sentence };
}

/** What was thrown, for people: a fault of the system with its remedy, else the error's own message. */
export function sentenceOf(thrown: unknown): string {
  return systemFault(thrown)?.sentence ?? (thrown instanceof Error ? thrown.message : String(thrown));
}

/**
 * For `.catch()` of a call whose failure means that something is not there.
 * @throws what was thrown, where it is a fault of the system: that says nothing of what is there
 */
export function asAbsent(thrown: unknown): null {
  if (systemFault(thrown) !== null) throw thrown;
  return null;
}
