import { errorCode } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

const UNREACHABLE =
  'cannot be reached; check that PostgreSQL runs there, and the address in the variable that `database` names';
const REFUSED = 'refused the user or the password; check the URL in the variable that `database` names';

/** SQLSTATE codes (whole, or their first two characters) and system codes that an operator can fix. */
const REASONS: { readonly [code: string]: string } = {
  ECONNREFUSED: UNREACHABLE,
  ECONNRESET: UNREACHABLE,
  EPIPE: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EAI_AGAIN: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  ENOENT: UNREACHABLE,
  EACCES: UNREACHABLE,
  NO_CONNECTION: UNREACHABLE,
  NO_ANSWER: 'did not answer in time; check its load and the network between',
  '08': UNREACHABLE,
  '57P01': 'is shutting down; the service connects again by itself',
  '57P02': 'has crashed; the service connects again by itself',
  '57P03': 'is starting up or shutting down; the service connects again by itself',
  '25006': 'is read-only: a standby, or a primary after a failover; let the URL name the primary',
  '25P03': 'ended a transaction that had paused for too long; the machine of the service is overloaded',
  '28': REFUSED,
  '3D000': 'does not exist; create it with: createdb',
  '3F000': 'has no schema to create tables in; create one, and name it in the search_path of the user',
  '42501': 'refused an operation to this user; let the user own the database',
  '53100': 'cannot be written: its disk is full; free disk space there, or set a smaller `retention`',
  '53200': 'has no memory left; give PostgreSQL more memory, or lower its max_connections',
  '53300': 'has too many connections; raise its max_connections, or put pgbouncer between',
  '53': 'has not enough resources; look at its log',
  '55P03': 'did not give a lock in time; check for a transaction that another program left open',
  '57014': 'took too long for a statement; check its load and its disk',
  '58': 'reports an error of its system; look at its log, and check its disk',
  XX: 'reports an internal error; look at its log, and restore a copy if its files are damaged',
};

/** Classes of errors after which a connection is as good as before: the statement was refused. */
const STATEMENT_CLASSES = /^(22|23|40|42|0A|P0)/;

/** Errors after which the same transaction can succeed when it is tried again: serialization failures, deadlocks. */
const CONFLICTS = /^40/;

/** Errors of a database that is away for a moment, or of a connection that it closed. */
const TRANSIENT = /^(08|57P0|25P03|ECONN|ENOENT|EPIPE|NO_CONNECTION$)/;

/** Errors of a server that restarts, is failing over, or is out of reach, for a moment as far as anybody knows. */
const AWAY =
  /^(08|57P0|25006|25P03|53300|ECONN|ENOENT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|NO_CONNECTION$|NO_ANSWER$)/;

/** Errors of a connection that was open, and was cut; another one may be as good as before. */
const CUT = /^(57P0[12]|08006|ECONNRESET|EPIPE)$/;

/** Whether a connection ended that had been open. */
export function isCut(error: unknown): boolean {
  return CUT.test(codeOf(error) ?? '');
}

/** Whether the server may serve again without anybody's help. */
export function isAway(error: unknown): boolean {
  const code = error instanceof TroupeError ? error.details?.cause : codeOf(error);
  return typeof code === 'string' && AWAY.test(code);
}

/** Whether the server refused the statement, and the connection is intact. */
export function isStatementError(error: unknown): boolean {
  return STATEMENT_CLASSES.test(codeOf(error) ?? '');
}

/** Whether a transaction that did not reach its commit may be tried again at once. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return CONFLICTS.test(code) || TRANSIENT.test(code);
}

/** Whether every other transaction would fail in the same way. */
export function isOutage(error: unknown): boolean {
  return reasonOf(codeOf(error)) !== undefined;
}

/** A database as messages name it: without user and password. */
export function placeOf(url: string): string {
  try {
    const { host, pathname, searchParams } = new URL(url);
    return `${host || (searchParams.get('host') ?? 'localhost')}${pathname}`;
  } catch {
    return 'of the URL';
  }
}

/**
 * Converts an error of `pg` to an UNAVAILABLE that names the database and the remedy, with `details.cause` if known.
 * Returns a TroupeError unchanged.
 */
export function explainPostgresError(url: string, thrown: unknown): TroupeError {
  if (thrown instanceof TroupeError) return thrown;
  const code = codeOf(thrown);
  const reason = reasonOf(code);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const details = reason === undefined || code === undefined ? undefined : { cause: code };
  return new TroupeError(
    'UNAVAILABLE',
    `The database ${placeOf(url)} ${reason === undefined ? 'failed' : reason} (${message})`,
    details,
    { cause: thrown },
  );
}

function reasonOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : (REASONS[code] ?? REASONS[code.slice(0, 2)]);
}

/** The SQLSTATE or system code; for errors of `pg` without one, a code of our own. */
function codeOf(thrown: unknown): string | undefined {
  const code = errorCode(thrown);
  if (code !== undefined && code !== '') return code;
  // Several addresses were tried.
  if (thrown instanceof AggregateError) return codeOf(thrown.errors[0]);
  const message = thrown instanceof Error ? thrown.message : '';
  if (/query read timeout|timeout expired|timeout exceeded when trying to connect/i.test(message)) return 'NO_ANSWER';
  if (/connection terminated|client has encountered a connection error|not queryable/i.test(message)) {
    return 'NO_CONNECTION';
  }
  return undefined;
}
