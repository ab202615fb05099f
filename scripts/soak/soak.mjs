import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startShop } from '../../examples/shop/shop.mjs';
import { settled } from './measure.mjs';
import { MixedLoad } from './mixed-load.mjs';
import { verdict } from './verdict.mjs';

/** Before the time that counts, as a part of it. Meanwhile the optimizer hurries: what it keeps grows while code gets hot. */
const WARM_UP = 0.5;

/** Loads a service for so long, after its warm-up, prints what it held after each cycle, and answers whether nothing grew. */
export async function soak(minutes) {
  const cycleMs = Math.min(30_000, (minutes * 60_000) / 20);
  const home = await mkdtemp(join(tmpdir(), 'troupe-soak-'));
  // Browsers that run as another user keep their profiles below it.
  await chmod(home, 0o755);
  await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  const settings = { driver: 'process', maxSessions: 6, warmSessions: 0, idleTimeout: 86_400, hardTimeout: 86_400 };
  await writeFile(join(home, 'troupe.json'), JSON.stringify(settings));
  const shop = await startShop({ port: 0 });
  // malloc as the service's image and unit have it.
  const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
  const env = { ...malloc, ...process.env, TROUPE_HOME: home };
  const service = fork(new URL('./service.mjs', import.meta.url), { env });
  const closed = once(service, 'close');
  const told = async () => (await Promise.race([once(service, 'message'), closed.then(endedEarly)]))[0];
  const measured = () => {
    service.send('measure');
    return told();
  };
  const samples = [];
  try {
    const load = new MixedLoad(await told(), shop.url);
    await load.open();
    const startedAt = performance.now();
    const elapsed = () => (performance.now() - startedAt) / (minutes * 60_000);
    console.log(' minute  scripts     jobs  heap MB   RSS MB  threads  handles    files');
    while (elapsed() < WARM_UP + 1) {
      await load.cycle(cycleMs);
      const steady = samples.find((sample) => sample.part >= WARM_UP);
      const sample = { part: elapsed(), minute: elapsed() * minutes, ...(await settled(measured, steady)) };
      samples.push(sample);
      if (steady === undefined && sample.part >= WARM_UP) service.send('warm');
      const { heapMb, rssMb, threads, handles, files } = sample;
      const columns = [sample.minute.toFixed(1), load.scripts, load.jobs, heapMb.toFixed(1), rssMb.toFixed(1)];
      console.log([...columns, threads, handles, files].map((text) => String(text).padStart(7)).join('  '));
    }
    await load.close();
  } finally {
    if (service.connected) service.send('stop');
    await closed;
    await shop.close();
    await rm(home, { recursive: true, force: true });
  }
  return verdict(samples.filter(({ part }) => part >= WARM_UP));
}

function endedEarly([code]) {
  throw new Error(`The service ended (${code}) while it was used`);
}
