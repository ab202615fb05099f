/**
 * Milliseconds of processor time that synchronous work takes. Unlike the clock on the wall it is the same beside other
 * work, so that a bound on it holds on a busy machine too.
 */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
