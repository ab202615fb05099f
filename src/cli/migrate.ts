import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { RequestVault, resealer } from '../auth/request-vault.js';
import { ifMissing } from '../base/system-fault.js';
import { readConfig } from '../config.js';
import { migrateFile } from '../journal/migrate-file.js';
import { TroupeError } from '../protocol/errors.js';
import { MIGRATE } from '../terminal/commands/service-commands.js';
import { UsageError } from '../terminal/failure.js';
import { print, printError } from '../terminal/output.js';
import { parseOptions } from '../terminal/parse-options.js';
import { keepOutOfGit } from './setup/keep-out-of-git.js';

/** Copies the journal of a stopped service from SQLite to the configured PostgreSQL database. */
export async function runMigrate(args: readonly string[]): Promise<number> {
  const { from, key } = parseOptions(args, MIGRATE);
  if (from === undefined) throw new UsageError('Missing option: --from FILE, the troupe.db of a stopped service');
  const config = readConfig({});
  printError(`Using the settings of ${config.home}\n`);
  const { database } = config;
  if (database === undefined) {
    throw new UsageError(
      `There is no database to migrate to: set "database" in ${join(config.home, 'troupe.json')} to the name of an ` +
        'environment variable that holds a postgres:// URL',
    );
  }
  const file = resolve(from);
  const keyFile = resolve(key ?? join(dirname(file), 'troupe.key'));
  // Both would be created if they were missing.
  for (const needed of [file, keyFile]) {
    if ((await stat(needed).catch(ifMissing)) === null) {
      throw new TroupeError(
        'INVALID_REQUEST',
        `${needed} does not exist; name the journal with --from, its key with --key`,
      );
    }
  }
  await mkdir(config.home, { recursive: true });
  await keepOutOfGit(config.home);
  const reseal = resealer(await RequestVault.open(keyFile), await RequestVault.open(config.keyFile, config.clusterKey));
  const copied = await migrateFile({ file, database, reseal });
  for (const [table, rows] of Object.entries(copied)) print(`${table.padEnd(14)} ${rows}\n`);
  print(`${file} was copied to the database and is no longer used; keep it until the service has run\n`);
  return 0;
}
