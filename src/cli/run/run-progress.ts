import { plainLine, plainText } from '../../base/plain-text.js';
import type { SessionRecord } from '../../protocol/session.js';
import { recordText, type State, stateOfRecord } from '../../protocol/state-text.js';
import { formatDuration, ranMs } from '../../protocol/times.js';
import { countFlows, type SuiteResult } from '../../report/suite/suite-result.js';
import { countsText, failuresText, GREEN, RED, YELLOW } from './run-summary.js';

/** Flows that a summary lists by their time. */
const SLOWEST = 5;
const TICK_MS = 1_000;
const CLEAR_LINE = '\r\u001b[K';

const SIGNS: Readonly<Record<State, string>> = {
  queued: ' ',
  running: ' ',
  passed: '✓',
  completed: '✓',
  flaky: '±',
  repaired: '↻',
  failed: '✗',
  skipped: '-',
  stopped: '-',
  'not run': '-',
};

/**
 * What a person sees of a run: a line for each job as it ends, and on a terminal one more below them with what is
 * running; then a summary with every failure once: of equal ones, the first one in full and the names of the others.
 */
export class RunProgress {
  readonly #out: NodeJS.WriteStream;
  readonly #terminal: boolean;
  readonly #colours: boolean;
  readonly #total: number;
  readonly #running = new Map<number, string>();
  readonly #startedAt = performance.now();
  readonly #ended = new Map<number, State>();
  #ticking: NodeJS.Timeout | undefined;

  constructor(out: NodeJS.WriteStream, options: { readonly total: number; readonly colours: boolean }) {
    this.#out = out;
    this.#terminal = out.isTTY;
    this.#colours = out.isTTY && options.colours;
    this.#total = options.total;
    if (this.#terminal) this.#ticking = setInterval(() => this.#drawStatus(), TICK_MS);
  }

  /** A line between the others. */
  say(text: string): void {
    this.#line('', plainText(text));
  }

  started(index: number, name: string): void {
    this.#running.set(index, name);
    this.#drawStatus();
  }

  /**
   * @param jobs the flow's jobs that have ended, in order: more than one if the run itself retried it
   * @param attempt from 1, over all of them
   * @param attempts how many there may be
   */
  ended(
    index: number,
    name: string,
    jobs: readonly SessionRecord[],
    { attempt, attempts, note }: { readonly attempt: number; readonly attempts: number; readonly note: string },
  ): void {
    this.#running.delete(index);
    const last = jobs.at(-1);
    if (last === undefined) return;
    const now = Date.now();
    const record = { ...last, attempt, retries: attempts - 1 };
    const state = stateOfRecord(record);
    this.#ended.set(index, state);
    const text = recordText(record, now, { ms: jobs.reduce((total, job) => total + (ranMs(job, now) ?? 0), 0) });
    const line = plainLine(`${name}  ${text}${note === '' ? '' : `, ${note}`}`);
    this.#line(`${this.#paint(SIGNS[state], colourOf(state))} `, line);
  }

  /**
   * What failed, what was slow, and how many there were.
   * @param notes further lines, such as where reports are
   */
  summary(suite: SuiteResult, notes: readonly string[]): void {
    this.close();
    this.#out.write(failuresText(suite, (text, colour) => this.#paint(text, colour)));
    const started = suite.flows.filter(({ startedAt }) => startedAt !== null);
    if (started.length > 1) {
      this.#write('\nSlowest\n');
      for (const flow of started.sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST)) {
        this.#write(`  ${formatDuration(flow.durationMs).padStart(12)}  ${flow.name}\n`);
      }
    }
    const took = formatDuration(performance.now() - this.#startedAt);
    this.#write(`\n${countsText(countFlows(suite))}, in ${took}\n`);
    for (const line of notes) this.#write(`${line}\n`);
  }

  /** Clears the line with what is running. Idempotent. */
  close(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    if (this.#terminal) this.#out.write(CLEAR_LINE);
  }

  /** @param sign in its color */
  #line(sign: string, text: string): void {
    this.#out.write(`${this.#terminal ? CLEAR_LINE : ''}${sign}${text}\n`);
    this.#drawStatus();
  }

  #drawStatus(): void {
    if (!this.#terminal || this.#ticking === undefined) return;
    const names = [...this.#running.values()].join(', ');
    const count = [...this.#ended.values()].filter((state) => state === 'failed').length;
    const failed = count > 0 ? `, ${count} failed` : '';
    const text = `${this.#ended.size}/${this.#total} done${failed}, ${formatDuration(performance.now() - this.#startedAt)}  ${names}`;
    this.#out.write(`${CLEAR_LINE}${plainLine(text).slice(0, Math.max(20, this.#out.columns - 1))}`);
  }

  /** Writes what may be text of pages and flows. */
  #write(text: string): void {
    this.#out.write(plainText(text));
  }

  #paint(text: string, colour: number): string {
    return this.#colours ? `\u001b[${colour}m${text}\u001b[0m` : text;
  }
}

function colourOf(state: State): number {
  if (state === 'failed') return RED;
  return state === 'passed' || state === 'completed' ? GREEN : YELLOW;
}
