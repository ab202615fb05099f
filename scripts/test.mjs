// `npm test`: set-up, `npm run check`, then every test. Words after `--` go to tap. Prints a line for each test file, and
// everything about what fails. With TROUPE_REFUSE_SKIPS=1, as in CI, a test that is skipped is a failure. A few files
// that fail run once more, one at a time, since most of these tests drive browsers against the clock; those that pass
// only then are named as unsteady at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tap = 'node_modules/tap/dist/esm/run.mjs';
const startedAt = Date.now();

prepare();
await buildRunner();
const checked = await run('inherit', 'scripts/check.mjs');
if (checked !== 0) process.exit(checked);

/** With more failing files than this the fault is in the code, not in the hour. */
const MAX_SECOND_RUNS = 3;

const counts = { passed: 0, failed: 0, skipped: 0 };
let failedFiles = [];
let inFailure = false;
const skips = process.env.TROUPE_REFUSE_SKIPS === '1' ? ['--fail-skip'] : [];
const words = ['--reporter=tap', ...skips, ...process.argv.slice(2)];
let tested = await run('pipe', tap, ...words);
const unsteady = tested !== 0 && failedFiles.length <= MAX_SECOND_RUNS ? failedFiles : [];
if (unsteady.length > 0) {
  console.log(`\nOnce more, one at a time: ${unsteady.join(', ')}`);
  failedFiles = [];
  counts.failed = 0;
  tested = await run('pipe', tap, '--reporter=tap', '--jobs=1', ...skips, ...unsteady);
}
const seconds = Math.round((Date.now() - startedAt) / 1000);
console.log(`\nAll of it took ${seconds} s.`);
for (const file of unsteady) console.log(`${failedFiles.includes(file) ? 'failed twice' : 'UNSTEADY'}: ${file}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(tested);

/** tap puts its plugins together once for an installation; without that its first run would have those of its own choice. */
async function buildRunner() {
  const stamp = join(root, 'node_modules', '.troupe-tap');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > statSync(join(root, 'package.json')).mtimeMs) return;
  const built = await run('ignore', tap, 'build');
  if (built !== 0) process.exit(built);
  writeFileSync(stamp, '');
}

/** A line of TAP: https://testanything.org/tap-version-14-specification.html */
function readLine(line) {
  const [, indent, not, name] = /^(\s*)(not )?ok \d+ - (.*)$/.exec(line) ?? [];
  if (name !== undefined) {
    const skipped = /# SKIP/i.test(name);
    counts[skipped ? 'skipped' : not === undefined ? 'passed' : 'failed'] += 1;
    inFailure = not !== undefined;
    if (inFailure && indent === '') failedFiles.push(name.replace(/ # time=.*$/, ''));
    if (indent === '' || inFailure || skipped) console.log(line);
    return;
  }
  // What tap says of a failure stands in the block behind it.
  if (inFailure) console.log(line);
  if (/^\s*\.\.\.$/.test(line)) inFailure = false;
}

async function run(stdout, script, ...args) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: ['inherit', stdout, 'inherit'],
  });
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', readLine);
  const [code] = await once(child, 'close');
  return code ?? 1;
}
