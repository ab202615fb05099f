// `npm run chaos -- [--rounds 50] [--seed N] [--driver docker]`: the tests that kill things, for longer and with more
// sessions; with Docker those too that stop an engine of their own. `--kind jobs [--jobs 300]` kills the service, its threads
// and browsers under jobs of flows and models. `--kind page` does so under scripts that use `page`. `--kind cluster [--lease 0.1]` kills,
// freezes and cuts off nodes that share a database; `--lease 1` has the times that nodes have by default. What fails says
// its seed, with which the same moments come again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    driver: { type: 'string', default: 'process' },
    kind: { type: 'string', default: 'service' },
    jobs: { type: 'string', default: '300' },
    lease: { type: 'string', default: '0.1' },
  },
});
const { driver, kind, lease, ...numbers } = values;
for (const [name, text] of Object.entries(numbers)) {
  if (/^[1-9]\d{0,8}$/.test(text)) continue;
  console.error(`--${name} takes a whole number above 0, not ${text}`);
  process.exit(2);
}
if (driver !== 'process' && driver !== 'docker') {
  console.error(`--driver takes process or docker, not ${driver}`);
  process.exit(2);
}
if (!['service', 'jobs', 'page', 'cluster'].includes(kind)) {
  console.error(`--kind takes service, jobs, page or cluster, not ${kind}`);
  process.exit(2);
}
await prepare({ tests: true });
console.log(`seed ${values.seed}`);
const ofService = ['test/chaos/service-kills.test.ts'];
if (driver === 'docker') ofService.push('test/chaos/engine-stops.chaos.ts');
const ofJobs = ['test/chaos/model-kills.test.ts', 'test/chaos/restart-progress.test.ts'];
const ofCluster = ['test/chaos/cluster/cluster.chaos.ts'];
const files = { service: ofService, jobs: ofJobs, page: ['test/chaos/page-kills.test.ts'], cluster: ofCluster }[kind];
for (const file of files) {
  const child = spawn(process.execPath, ['--import=./scripts/test-loader.mjs', file], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TAP_TIMEOUT: String(300 + (kind === 'jobs' ? 20 * Number(values.jobs) : 120 * Number(values.rounds))),
      TROUPE_CHAOS_ROUNDS: values.rounds,
      TROUPE_CHAOS_JOBS: values.jobs,
      TROUPE_CHAOS_SEED: values.seed,
      TROUPE_CHAOS_DRIVER: driver,
      TROUPE_CHAOS_LEASE: lease,
    },
  });
  const [code] = await once(child, 'close');
  if (code !== 0) process.exit(code ?? 1);
}
