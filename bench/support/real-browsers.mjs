import { join } from 'node:path';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { ProcessDriver } from '#troupe/containers/process/process-driver.js';
import { openGate } from './open-gate.mjs';

/**
 * Real browsers for the first `count` sessions, and those of another driver for all others.
 *
 * @param home of the service
 * @param others a driver, whose name is told
 */
export async function realBrowsersFirst(count, home, others) {
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(home, 'cache') });
  const real = await ProcessDriver.create({
    chromium,
    network: openGate(),
    ownPort: 0,
    home,
    workDir: join(home, 'w'),
    instance: 'bench',
  });
  let left = count;
  const driver = {
    ...others,
    lease: (options, bounds) => (left-- > 0 ? real : others).lease(options, bounds),
    sweep: (kept) => real.sweep(kept),
  };
  return { driver, description: `${count} real browsers` };
}
