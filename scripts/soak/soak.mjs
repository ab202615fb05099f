// The soaked service itself, in one process with its clients: see ../soak.mjs.
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#troupe/config.js';
import { startService } from '#troupe/service.js';
import { startShop } from '../../examples/shop/shop.mjs';
import { measure, settled } from './measure.mjs';
import { MixedLoad } from './mixed-load.mjs';
import { verdict } from './verdict.mjs';

const minutes = Number(process.argv[2]);
/** What is warmed up in this part of the time may grow meanwhile. */
const WARM_UP = 0.3;
const CYCLE_MS = Math.min(30_000, (minutes * 60_000) / 20);

const home = await mkdtemp(join(tmpdir(), 'troupe-soak-'));
// Browsers that run as another user keep their profiles below it.
await chmod(home, 0o755);
await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
await writeFile(
  join(home, 'troupe.json'),
  JSON.stringify({ driver: 'process', maxSessions: 6, warmSessions: 0, idleTimeout: 3600 }),
);
const shop = await startShop({ port: 0 });
const service = await startService(readConfig({ port: '0' }, { ...process.env, TROUPE_HOME: home }), {
  version: 'soak',
  log: () => undefined,
});
const load = new MixedLoad(service.url, shop.url);
const samples = [];
try {
  await load.open();
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / (minutes * 60_000);
  console.log(' minute  scripts     jobs  heap MB   RSS MB  threads  handles    files');
  while (elapsed() < 1) {
    await load.cycle(CYCLE_MS);
    const steady = samples.find((sample) => sample.part >= WARM_UP);
    const sample = { part: elapsed(), minute: elapsed() * minutes, ...(await settled(measure, steady)) };
    samples.push(sample);
    const { heapMb, rssMb, threads, handles, files } = sample;
    const columns = [sample.minute.toFixed(1), load.scripts, load.jobs, heapMb.toFixed(1), rssMb.toFixed(1)];
    console.log([...columns, threads, handles, files].map((text) => String(text).padStart(7)).join('  '));
  }
} finally {
  await load.close();
  await service.stop({ drainMs: 0 });
  await shop.close();
  await rm(home, { recursive: true, force: true });
}
process.exitCode = verdict(samples.filter(({ part }) => part >= WARM_UP)) ? 0 : 1;
