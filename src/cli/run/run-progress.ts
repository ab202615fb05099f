import type { SessionRecord } from '../../protocol/session.js';

/** Jobs that a summary lists by their time. */
const SLOWEST = 5;
const TICK_MS = 1_000;

type Mark = 'passed' | 'failed' | 'stopped';

const SIGNS: Readonly<Record<Mark, string>> = { passed: '✓', failed: '✗', stopped: '-' };
const COLOURS: Readonly<Record<Mark, number>> = { passed: 32, failed: 31, stopped: 33 };

/** One job of a run that has ended. */
export interface EndedJob {
  readonly name: string;
  readonly record: SessionRecord;
  /** Where its report is; null where there is none. */
  readonly report: string | null;
}

/**
 * What a person sees of a run: a line for each job as it ends, and on a terminal one more below them that tells what is
 * under way; then a summary.
 */
export class RunProgress {
  readonly #out: NodeJS.WriteStream;
  readonly #terminal: boolean;
  readonly #colours: boolean;
  readonly #total: number;
  readonly #running = new Map<string, string>();
  readonly #startedAt = performance.now();
  #ended = 0;
  #failed = 0;
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
    this.#line(text);
  }

  started(id: string, name: string): void {
    this.#running.set(id, name);
    this.#drawStatus();
  }

  ended({ name, record }: EndedJob): void {
    this.#running.delete(record.id);
    this.#ended += 1;
    const mark = markOf(record);
    if (mark === 'failed') this.#failed += 1;
    const sign = this.#terminal ? this.#paint(SIGNS[mark], COLOURS[mark]) : mark.padEnd(7);
    const again = record.attempt > 1 ? `, attempt ${record.attempt}` : '';
    const why = mark === 'failed' ? `  ${reasonOf(record)}` : '';
    this.#line(`${sign} ${name}  ${seconds(durationOf(record))}${again}${why}`);
  }

  /** The last words: what failed, what was slow, and how many there were. */
  summary(jobs: readonly EndedJob[], written: readonly string[]): void {
    this.close();
    const failed = jobs.filter(({ record }) => markOf(record) === 'failed');
    if (failed.length > 0) {
      this.#out.write(`\n${this.#paint('Failed', COLOURS.failed)}\n`);
      for (const { name, record, report } of failed) {
        this.#out.write(`  ${name}\n      ${reasonOf(record)}\n${report === null ? '' : `      ${report}\n`}`);
      }
    }
    const slowest = [...jobs].sort((a, b) => durationOf(b.record) - durationOf(a.record)).slice(0, SLOWEST);
    if (jobs.length > 1) this.#out.write('\nSlowest\n');
    for (const { name, record } of jobs.length > 1 ? slowest : []) {
      this.#out.write(`  ${seconds(durationOf(record)).padStart(8)}  ${name}\n`);
    }
    const count = (mark: Mark) => jobs.filter(({ record }) => markOf(record) === mark).length;
    const flaky = jobs.filter(({ record }) => markOf(record) === 'passed' && record.attempt > 1).length;
    const parts = [
      `${count('passed')} passed`,
      ...(flaky > 0 ? [`${flaky} of them not at once`] : []),
      `${count('failed')} failed`,
      ...(count('stopped') > 0 ? [`${count('stopped')} stopped`] : []),
    ];
    this.#out.write(
      `\n${countedJobs(this.#total)}: ${parts.join(', ')}, in ${seconds(performance.now() - this.#startedAt)}\n`,
    );
    for (const line of written) this.#out.write(`${line}\n`);
  }

  /** Clears the line of what is under way. Idempotent. */
  close(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    if (this.#terminal) this.#out.write('\r\u001b[K');
  }

  #line(text: string): void {
    this.#out.write(`${this.#terminal ? '\r\u001b[K' : ''}${text}\n`);
    this.#drawStatus();
  }

  #drawStatus(): void {
    if (!this.#terminal || this.#ticking === undefined) return;
    const names = [...this.#running.values()].join(', ');
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    const text = `${this.#ended}/${this.#total} done${failed}, ${seconds(performance.now() - this.#startedAt)}  ${names}`;
    this.#out.write(`\r\u001b[K${text.slice(0, Math.max(20, this.#out.columns - 1))}`);
  }

  #paint(text: string, colour: number): string {
    return this.#colours ? `\u001b[${colour}m${text}\u001b[0m` : text;
  }
}

/** How many jobs, in words. */
export function countedJobs(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}

function markOf({ status }: SessionRecord): Mark {
  if (status === 'completed') return 'passed';
  return status === 'failed' ? 'failed' : 'stopped';
}

function reasonOf({ error, summary }: SessionRecord): string {
  const text = error === null ? (summary ?? 'no reason was given') : `${error.code}: ${error.error}`;
  return text.replace(/\s+/g, ' ').slice(0, 300);
}

function durationOf({ startedAt, endedAt }: SessionRecord): number {
  return startedAt === null || endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt);
}

function seconds(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
