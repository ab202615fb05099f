import { readdirSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { getHeapCodeStatistics } from 'node:v8';

const MEGABYTE = 1024 ** 2;
/** Threads of the report pool that are idle, sockets that close: what is on its way out has this long. */
const SETTLE_MS = 20_000;
const LOOK_EVERY_MS = 500;
const LOOKS = 3;
/** What of a measurement is counted, not weighed. */
const COUNTED = ['threads', 'handles', 'files'];

/**
 * What this process holds now, all threads together. The heap is that of the main thread's data: compiled code comes and goes
 * with what is hot, for hours.
 */
export async function measure(collector) {
  await collector.collect();
  const { heapUsed, rss } = process.memoryUsage();
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  return {
    heapMb: (heapUsed - code - bytecode) / MEGABYTE,
    rssMb: rss / MEGABYTE,
    threads: readdirSync('/proc/self/task').length,
    handles: process.getActiveResourcesInfo().length,
    files: readdirSync('/proc/self/fd').length,
  };
}

/**
 * The least of several measurements, once what can be counted is at most what it was in `steady`, or did not come to that in
 * time. What is held is in all of them; what one has more than another was on its way out.
 */
export async function settled(measureNow, steady) {
  const endsAt = performance.now() + SETTLE_MS;
  const looks = [];
  while (looks.length < LOOKS) {
    await pass(LOOK_EVERY_MS);
    const now = await measureNow();
    const same = steady !== undefined && COUNTED.every((name) => now[name] <= steady[name]);
    if (same || performance.now() > endsAt) looks.push(now);
  }
  return least(looks);
}

function least(looks) {
  return Object.fromEntries(Object.keys(looks[0]).map((name) => [name, Math.min(...looks.map((look) => look[name]))]));
}
