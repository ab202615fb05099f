// `npm run test:postgres`: test files with their journals in PostgreSQL, one server for all of them; those named, or a
// few of everything that the store does. Exit code 1 when a file failed.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkPackage, postgresPrograms, startPostgres } from '../test/support/postgres/server.mjs';
import { prepare } from './prepare.mjs';

const FILES = [
  'test/journal/journal.test.ts',
  'test/supervisor/event-hub.test.ts',
  'test/supervisor/flow-stats.test.ts',
  'test/supervisor/retention.test.ts',
  'test/supervisor/submissions.test.ts',
  'test/webhooks/outbox.test.ts',
  'test/service/batches.test.ts',
  'test/service/delete.test.ts',
  'test/service/flow-job.test.ts',
  'test/service/live-session.test.ts',
  'test/service/queue.test.ts',
  'test/service/repeated-submit.test.ts',
  'test/service/restart.test.ts',
  'test/service/webhooks.test.ts',
];
const root = dirname(dirname(fileURLToPath(import.meta.url)));

await prepare({ tests: true });
if (postgresPrograms() === null) {
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  spawnSync('npm', words, { cwd: `${root}/test/support/postgres`, stdio: 'inherit' });
  linkPackage();
}
const server = await startPostgres();
const words = process.argv.slice(2);
try {
  const startedAt = Date.now();
  const files = words.length > 0 ? words : FILES;
  const { status } = spawnSync('node_modules/.bin/tap', ['--reporter=terse', '--jobs=3', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TROUPE_TEST_STORE: 'postgres', TROUPE_TEST_POSTGRES: server.url('postgres') },
  });
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(`With PostgreSQL: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  await server.remove();
}
