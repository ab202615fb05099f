import { readFileSync } from 'node:fs';

/**
 * The longest that this thread computes without giving the event loop back, in milliseconds of its own processor time: what
 * else the machine does is not in it. Looks in every turn of the loop, which costs a core while it runs.
 */
export function longestLap() {
  const cpuMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  let longest = 0;
  let before = cpuMs();
  let immediate = setImmediate(function lap() {
    longest = Math.max(longest, cpuMs() - before);
    before = cpuMs();
    immediate = setImmediate(lap);
  });
  return {
    stop() {
      clearImmediate(immediate);
      return longest;
    },
  };
}
