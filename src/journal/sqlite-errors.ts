import { errorCode } from '../base/system-fault.js';
import { TroupeError } from '../protocol/errors.js';

/** SQLite's result codes that a person can mend; https://www.sqlite.org/rescode.html */
const REASONS: { readonly [primary: string]: string } = {
  SQLITE_BUSY: 'is in use by another running service',
  SQLITE_LOCKED: 'is in use by another running service',
  SQLITE_NOTADB: 'is not a database; move it away and start again',
  SQLITE_CORRUPT: 'is damaged; restore a copy, or move it away and start again',
  SQLITE_READONLY:
    'cannot be written: it is read-only for this user; let the user write to it and to its folder, or, if it may, try again',
  SQLITE_PERM: 'cannot be written: permission denied; let the user of the service write to it',
  SQLITE_CANTOPEN:
    'cannot be opened: is its folder there, and may this user write to it? If so, raise the limit of open files (ulimit -n), or try again',
  SQLITE_FULL: 'cannot be written: the disk is full; free disk space in its folder, or set a smaller `retention`',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error; check the disk and the space on it',
};

/** What SQLite threw as an UNAVAILABLE that names the file and the remedy, with `details.cause` where it is known. A TroupeError stays as it is. */
export function explainSqliteError(file: string, thrown: unknown): TroupeError {
  if (thrown instanceof TroupeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = errorCode(thrown);
  // An extended code begins with its primary one: SQLITE_IOERR_FSYNC. Opening fails without a code, with its number
  // at the end of the text.
  const primary =
    code !== undefined && code !== ''
      ? Object.keys(REASONS).find((name) => code === name || code.startsWith(`${name}_`))
      : message.startsWith('ConnectionFailed')
        ? 'SQLITE_CANTOPEN'
        : undefined;
  const reason = primary === undefined ? `failed: ${message}` : REASONS[primary];
  const details = primary === undefined ? undefined : { cause: primary };
  return new TroupeError('UNAVAILABLE', `The journal ${file} ${reason}`, details, { cause: thrown });
}
