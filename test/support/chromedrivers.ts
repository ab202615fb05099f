import { readdirSync, readFileSync } from 'node:fs';

/** Pids of the chromedrivers that this process has started. */
export function chromedrivers(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
        return (
          Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('chromedriver')
        );
      } catch {
        return false;
      }
    });
}
