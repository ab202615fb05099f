import { plainLine } from '../base/plain-text.js';

/** How far something is that tells of its steps as it goes. */
export interface Progress {
  /** What happens now. `Step 3/9` in it moves the bar. */
  say(what: string): void;
  /** Clears the line. */
  end(): void;
}

const BAR = 20;
/** Where there is no terminal, steps are lines; what happens within a step is not worth one. */
const STEP = /^(?:Step (\d+)\/(\d+)|I: (?:Retrieving|Extracting|Configuring|Base system))/;

/** A bar on one line of a terminal; elsewhere a line for each step. */
export function showProgress(title: string, out: NodeJS.WriteStream): Progress {
  const startedAt = performance.now();
  let share = 0;
  let last = '';
  const seconds = (): string => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  return {
    say(what) {
      const [first = ''] = what.split('\n');
      const line = plainLine(first);
      const [found, step, of] = STEP.exec(line) ?? [];
      if (step !== undefined && of !== undefined) share = (Number(step) - 1) / Number(of);
      if (out.isTTY) {
        const full = Math.round(share * BAR);
        const text = `${title} [${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${seconds()} ${line}`;
        out.write(`\r\u001b[K${text.slice(0, Math.max(20, out.columns - 1))}`);
      } else if (found !== undefined && found !== last) {
        last = found;
        out.write(`     ${title}, ${seconds()}: ${line.slice(0, 100)}\n`);
      }
    },
    end() {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}
