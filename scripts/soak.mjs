// `npm run soak [-- --minutes 20]`: a service with real browsers under a mixed load, in cycles, for so long after a warm-up of
// half that. Between two cycles, when all that came has gone, it is looked at: what a service keeps then must not grow.
// Prints a table; the exit code is 1 when something grew. The service has the flags of this process: `node --no-opt
// scripts/soak.mjs` shows whether anything but the optimizer's own data grows.
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } });
const minutes = Number(values.minutes);
if (!(minutes >= 1 && minutes <= 1440)) {
  console.error(`--minutes takes a number from 1 to 1440, not ${values.minutes}`);
  process.exit(2);
}
await prepare({ tests: true });
const { soak } = await import('./soak/soak.mjs');
process.exit((await soak(minutes)) ? 0 : 1);
