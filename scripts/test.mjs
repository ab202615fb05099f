// `npm test`: set-up, `npm run check`, then every test; or, without the check, those of the files named after `--`, or with
// `--long` those that `npm test` leaves out because they take long. Prints a line for each test file, and
// everything about what fails. A file that fails fails the run. With TROUPE_REFUSE_SKIPS=1, as in CI, a test that is
// skipped is a failure. `npm test -- --repeat N FILE...` looks for flaky tests: it runs the files N times, without the
// check, and prints how often each of them failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';
import { runTests as runFiles } from './support/run-tests.mjs';
import { TapReader } from './support/tap-reader.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tap = 'node_modules/tap/dist/esm/run.mjs';
/** Test files that run at the same time: one more than there are cores, since a test waits now and then. */
const jobs = Math.max(3, availableParallelism() + 1);
/** What CI runs after `npm test`, with `npm run test:long`: many browsers each, for what other tests cover in part. */
const LONG = [
  'test/actors/session/browser.test.ts',
  'test/agent-js/act-hang.test.ts',
  'test/agent-js/act-hostile.test.ts',
  'test/agent-js/drag-changed.test.ts',
  'test/agent-js/drag.test.ts',
  'test/agent-js/drawn-fields.test.ts',
  'test/agent-js/expect-screenshot.test.ts',
  'test/agent-js/look-corpus.test.ts',
  'test/agent-js/random-numbers.test.ts',
  'test/agent-js/recorder-safety.test.ts',
  'test/agent-js/recorder.test.ts',
  'test/agent-js/select.test.ts',
  'test/agent-js/step-pictures.test.ts',
  'test/agent-js/vitals.test.ts',
  'test/attack/playwright.test.ts',
  'test/attack/process-browser.test.ts',
  'test/attack/request-run.test.ts',
  'test/chaos/model-kills.test.ts',
  'test/chaos/page-kills.test.ts',
  'test/chaos/restart-progress.test.ts',
  'test/chaos/service-kills.test.ts',
  'test/chaos/watched.test.ts',
  'test/cli/agent-commands.test.ts',
  'test/cli/migrate.test.ts',
  'test/cli/record.test.ts',
  'test/cluster/any-node.test.ts',
  'test/cluster/artifacts.test.ts',
  'test/cluster/chores.test.ts',
  'test/cluster/closed-nodes.test.ts',
  'test/cluster/joined.test.ts',
  'test/cluster/node-limits.test.ts',
  'test/cluster/nodes.test.ts',
  'test/cluster/outage.test.ts',
  'test/cluster/through-other-nodes.test.ts',
  'test/containers/docker-driver.test.ts',
  'test/dashboard/accessibility.test.ts',
  'test/dashboard/approve.test.ts',
  'test/dashboard/causes.test.ts',
  'test/dashboard/dashboard.test.ts',
  'test/dashboard/flow-editor.test.ts',
  'test/dashboard/keyboard.test.ts',
  'test/dashboard/record.test.ts',
  'test/dashboard/session-page.test.ts',
  'test/dashboard/trace-viewer.test.ts',
  'test/docs/cookbook.test.ts',
  'test/examples/flows.test.ts',
  'test/examples/suite.test.ts',
  'test/gateway/browserless.test.ts',
  'test/gateway/tunnel/tunnel-server.test.ts',
  'test/journal/database-owner.test.ts',
  'test/journal/postgres.test.ts',
  'test/journal/salvage.test.ts',
  'test/mcp/crowd.test.ts',
  'test/mcp/handoff.test.ts',
  'test/mcp/stdio.test.ts',
  'test/playwright-test/example.test.ts',
  'test/playwright-test/fixture.test.ts',
  'test/playwright/clock.test.ts',
  'test/playwright/codegen.test.ts',
  'test/playwright/interruptions.test.ts',
  'test/playwright/mock.test.ts',
  'test/playwright/rules.test.ts',
  'test/playwright/same-as-playwright.test.ts',
  'test/playwright/scripts.test.ts',
  'test/report/artifacts.test.ts',
  'test/request-client/window/answers.test.ts',
  'test/request-client/window/collection-work.test.ts',
  'test/request-client/window/oauth.test.ts',
  'test/request-client/window/procedures.test.ts',
  'test/request-client/window/streams.test.ts',
  'test/script/sandbox-ending.test.ts',
  'test/service/artifact-store.test.ts',
  'test/service/baseline-approval.test.ts',
  'test/service/baselines.test.ts',
  'test/service/batches.test.ts',
  'test/service/churn.test.ts',
  'test/service/command-line.test.ts',
  'test/service/control.test.ts',
  'test/service/delete.test.ts',
  'test/service/devices.test.ts',
  'test/service/devtools-clients.test.ts',
  'test/service/devtools.test.ts',
  'test/service/failures.test.ts',
  'test/service/handoff-links.test.ts',
  'test/service/handoff.test.ts',
  'test/service/join-run.test.ts',
  'test/service/live-input.test.ts',
  'test/service/live-session.test.ts',
  'test/service/login-states.test.ts',
  'test/service/model-job.test.ts',
  'test/service/model-recovery.test.ts',
  'test/service/model-retries.test.ts',
  'test/service/queue.test.ts',
  'test/service/repeated-submit.test.ts',
  'test/service/request-run.test.ts',
  'test/service/restart.test.ts',
  'test/service/run.test.ts',
  'test/service/second-browsers.test.ts',
  'test/service/secrets.test.ts',
  'test/service/telemetry.test.ts',
  'test/service/thread-loss.test.ts',
  'test/service/trace.test.ts',
  'test/service/video.test.ts',
  'test/service/warm-pool.test.ts',
  'test/service/webhooks.test.ts',
  'test/supervisor/event-hub.test.ts',
  'test/webdriver/connections.test.ts',
  'test/webdriver/selenium-suite.test.ts',
  'test/webdriver/w3c-commands.test.ts',
  'test/webdriver/webdriver.test.ts',
];
/** `npm run test:docker` has what needs Docker, and a corpus that wants 600 MB of packages. */
const LEFT_OUT = ['test/docker/', 'test/agent-js/libraries.test.ts', ...LONG];
const startedAt = Date.now();

const { rounds, words } = readWords(process.argv.slice(2));
await prepare({ tests: true });
await buildRunner();
await provideSandbox();
process.exit(rounds === undefined ? await testOnce() : await repeat());

async function testOnce() {
  const checked = words.length > 0 ? 0 : await run('inherit', 'scripts/check.mjs');
  if (checked !== 0) return checked;
  const { code, counts } = await runTests();
  console.log(`\nAll of it took ${Math.round((Date.now() - startedAt) / 1000)} s.`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return code;
}

async function repeat() {
  const failures = new Map();
  let failedRounds = 0;
  for (let round = 1; round <= rounds; round += 1) {
    console.log(`\nRound ${round} of ${rounds}`);
    const { code, failedFiles } = await runTests();
    if (code !== 0) failedRounds += 1;
    for (const file of failedFiles) failures.set(file, (failures.get(file) ?? 0) + 1);
  }
  console.log(`\n${failedRounds} of ${rounds} rounds failed`);
  for (const [file, times] of failures) console.log(`failed ${times} of ${rounds} times: ${file}`);
  return failedRounds === 0 ? 0 : 1;
}

function readWords(given) {
  if (given.join() === '--long') return { words: LONG };
  const at = given.indexOf('--repeat');
  if (at === -1) {
    const unknown = given.find((word) => !existsSync(join(root, word)));
    if (unknown === undefined) return { words: given };
    console.error(`There is no test file ${unknown}. Run tests with options of tap as npx tap.`);
    process.exit(2);
  }
  const rounds = Number(given[at + 1]);
  const words = given.toSpliced(at, 2);
  if (!Number.isInteger(rounds) || rounds < 1 || words.length === 0) {
    console.error('Usage: npm test -- --repeat N FILE...');
    process.exit(2);
  }
  return { rounds, words };
}

async function runTests() {
  const reader = new TapReader((line) => console.log(line));
  const passed = await runFiles(words.length === 0 ? allTests() : words, {
    jobs,
    refuseSkips: process.env.TROUPE_REFUSE_SKIPS === '1',
    onLine: (line) => reader.read(line),
  });
  return { code: passed ? 0 : 1, counts: reader.counts, failedFiles: reader.failedFiles };
}

function allTests() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => `test/${name}`)
    .filter((file) => file.endsWith('.test.ts') && !LEFT_OUT.some((path) => file.startsWith(path)))
    .sort();
}

/** tap puts its plugins together once for an installation; without that its first run would have those of its own choice. */
async function buildRunner() {
  const stamp = join(root, 'node_modules', '.troupe-tap');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > statSync(join(root, 'package.json')).mtimeMs) return;
  const built = await run('ignore', tap, ['build']);
  if (built !== 0) process.exit(built);
  writeFileSync(stamp, '');
}

/** As in most containers, Chromium may be unable to start its sandbox; CI must be able to. */
async function provideSandbox() {
  if (process.platform !== 'linux' || process.env.TROUPE_REFUSE_SKIPS === '1') return;
  const { hasUserNamespaces } = await import('../dist/containers/process/chromium-sandbox.js');
  const { browserUser } = await import('../dist/containers/chromium/browser-user.js');
  if (process.env.TROUPE_CHROMIUM_SANDBOX || (await hasUserNamespaces(browserUser(undefined)))) return;
  console.log("User namespaces are refused here: browsers run without Chromium's sandbox, and tests of it are skipped");
  process.env.TROUPE_CHROMIUM_SANDBOX = 'false';
}

async function run(stdout, script, args = []) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: ['inherit', stdout, 'inherit'],
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
}
