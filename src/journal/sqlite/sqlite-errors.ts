import { errorCode } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** SQLite result codes that an operator can fix; https://www.sqlite.org/rescode.html */
const REASONS: { readonly [primary: string]: string } = {
  SQLITE_BUSY: 'is in use by another running service',
  SQLITE_LOCKED: 'is in use by another running service',
  SQLITE_NOTADB: 'is not a database; move it away and start again',
  SQLITE_CORRUPT: 'is damaged; restore a copy, or move it away and start again',
  SQLITE_READONLY:
    'cannot be written: it is read-only for this user; let the user write to it and to its folder, or, if it may, try again',
  SQLITE_PERM: 'cannot be written: permission denied; let the user of the service write to it',
  SQLITE_CANTOPEN:
    'cannot be opened; check that its folder exists and is writable, raise the limit of open files (ulimit -n), or try again',
  SQLITE_FULL: 'cannot be written: the disk is full; free disk space in its folder, or set a smaller `retention`',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error; check the disk and the space on it',
};

/**
 * Converts SQLite's error to an UNAVAILABLE that names the file and the remedy, with `details.cause` if known. Returns
 * a TroupeError unchanged.
 * @param what how the message calls the file
 */
export function explainSqliteError(file: string, thrown: unknown, what = 'The journal'): TroupeError {
  if (thrown instanceof TroupeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = errorCode(thrown);
  // An extended code begins with its primary code: SQLITE_IOERR_FSYNC. A failure to open has no code, only its number
  // at the end of the message.
  const primary =
    code !== undefined && code !== ''
      ? Object.keys(REASONS).find((name) => code === name || code.startsWith(`${name}_`))
      : message.startsWith('ConnectionFailed')
        ? 'SQLITE_CANTOPEN'
        : undefined;
  const reason = primary === undefined ? `failed: ${message}` : REASONS[primary];
  const details = primary === undefined ? undefined : { cause: primary };
  return new TroupeError('UNAVAILABLE', `${what} ${file} ${reason}`, details, { cause: thrown });
}
