// `npm run chaos -- [--rounds 50] [--seed N] [--driver docker]`: the tests that kill things, for longer and with more
// sessions; with Docker those too that stop an engine of their own. What fails says its seed, with which the same moments
// come again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    driver: { type: 'string', default: 'process' },
  },
});
const { driver, ...numbers } = values;
for (const [name, text] of Object.entries(numbers)) {
  if (/^[1-9]\d{0,8}$/.test(text)) continue;
  console.error(`--${name} takes a whole number above 0, not ${text}`);
  process.exit(2);
}
if (driver !== 'process' && driver !== 'docker') {
  console.error(`--driver takes process or docker, not ${driver}`);
  process.exit(2);
}
await import('./build.mjs');
console.log(`seed ${values.seed}`);
const files = [
  'test/chaos/service-kills.test.ts',
  ...(driver === 'docker' ? ['test/chaos/engine-stops.chaos.ts'] : []),
];
for (const file of files) {
  const child = spawn(process.execPath, ['--import=./scripts/test-loader.mjs', file], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TAP_TIMEOUT: String(300 + 120 * Number(values.rounds)),
      TROUPE_CHAOS_ROUNDS: values.rounds,
      TROUPE_CHAOS_SEED: values.seed,
      TROUPE_CHAOS_DRIVER: driver,
    },
  });
  const [code] = await once(child, 'close');
  if (code !== 0) process.exit(code ?? 1);
}
