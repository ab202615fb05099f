/** A PostgreSQL server in a folder of its own. */
export interface PostgresServer {
  /** The URL of a database of this server, whether or not it exists. */
  url(database: string): string;
  /** The path of its unix socket. */
  readonly socket: string;
  pid(): number;
  /** Starts it again after a stop. */
  start(): Promise<void>;
  /** SIGINT (the default) ends all connections, SIGKILL ends the server as a crash would. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** The folder of `postgres` and `initdb`; null if this machine has none. */
export function postgresPrograms(): string | null;
/** Completes the installed package of npm; see the implementation. */
export function linkPackage(): void;
/** @param settings of postgresql.conf, as `name=value` */
export function startPostgres(settings?: readonly string[]): Promise<PostgresServer>;
