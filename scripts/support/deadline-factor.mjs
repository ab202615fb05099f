import { createHash } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';

const PRELOAD = join(import.meta.dirname, 'stretch-deadlines.cjs');
/** What is hashed to see how fast this machine is, and the processor time that it takes on a usual one. */
const CHUNK = Buffer.alloc(1024 * 1024);
const CHUNKS = 150;
const USUAL_MS = 150;
const MOST = 10;

/**
 * How many times longer the limits of tests, and of the services that they start, have to be here and now: as this machine
 * is slower than a usual one, and as many as want each of its cores. TROUPE_TEST_DEADLINE_FACTOR sets it instead. Takes
 * about 150 ms; call it once, at the start of a run.
 * @param files test files that run at the same time; with several it is 2 at least
 */
export function measureFactor(files) {
  const given = Number(process.env.TROUPE_TEST_DEADLINE_FACTOR);
  return given >= 1 ? given : deadlineFactor({ ...measureMachine(), files });
}

/** The environment variables by which a process, and those that it starts, have limits that are so many times longer. */
export function stretchedBy(factor) {
  const required = `--require=${JSON.stringify(PRELOAD)}`;
  const { NODE_OPTIONS: options = '' } = process.env;
  return {
    NODE_OPTIONS: options.includes(required) ? options : `${options} ${required}`.trim(),
    TROUPE_TEST_DEADLINE_FACTOR: String(factor),
  };
}

/** The factor of a machine: of `slowness` and `waiting`, 1 is usual; `load` is what is at work on each core already. */
export function deadlineFactor({ slowness, waiting, load, cores, files }) {
  const crowd = Math.max(1, waiting, load + files / cores);
  const factor = Math.min(MOST, Math.max(files > 1 ? 2 : 1, slowness * crowd));
  return Math.round(factor * 10) / 10;
}

function measureMachine() {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const hash = createHash('sha256');
  for (let done = 0; done < CHUNKS; done += 1) hash.update(CHUNK);
  hash.digest();
  const { user, system } = process.cpuUsage(before);
  const usedMs = Math.max(1, (user + system) / 1000);
  const cores = availableParallelism();
  return {
    slowness: Math.max(1, usedMs / USUAL_MS),
    waiting: (performance.now() - startedAt) / usedMs,
    load: loadavg()[0] / cores,
    cores,
  };
}
