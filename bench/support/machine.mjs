import { cpus, loadavg, totalmem } from 'node:os';

/** One line: without it the numbers below say little. */
export function describeMachine() {
  const [first] = cpus();
  const memoryGb = (totalmem() / 1024 ** 3).toFixed(1);
  const load = loadavg()[0].toFixed(1);
  return `${cpus().length} x ${first?.model.trim()}, ${memoryGb} GB, ${process.platform} ${process.arch}, Node ${process.versions.node}, load ${load}`;
}
