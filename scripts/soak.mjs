// `npm run soak [-- --minutes 20]`: a service with real browsers under a mixed load for that long, in cycles. Between two
// cycles, when all that came has gone, it is looked at: what a service keeps then must not grow. Prints a table; the exit
// code is 1 when something grew.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } });
const minutes = Number(values.minutes);
if (!(minutes >= 1 && minutes <= 1440)) {
  console.error(`--minutes takes a number from 1 to 1440, not ${values.minutes}`);
  process.exit(2);
}
await import('./build.mjs');
// The heap is looked at after a collection, and a collection can be asked for only so.
const child = spawn(process.execPath, ['--expose-gc', 'scripts/soak/soak.mjs', String(minutes)], { stdio: 'inherit' });
const [code] = await once(child, 'close');
process.exit(code ?? 1);
