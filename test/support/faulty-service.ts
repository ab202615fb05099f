import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { limitSignal } from '#troupe/base/deadline.js';
import { client } from './service.js';
import { type ServiceProcess, spawnServiceWithFaults } from './service-process.js';

/** One call that fails, once. */
export interface Fault {
  /** Its kind and its line in `dist/`, such as `rename report/artifact-writer.js:57`, or its kind alone. */
  readonly site: string;
  readonly nth: number;
  readonly code: string;
}

/** What the system says of each kind of call when it refuses it. */
const CODES: { readonly [kind: string]: readonly string[] } = {
  open: ['EMFILE', 'EIO'],
  read: ['EMFILE', 'EIO'],
  write: ['ENOSPC', 'EIO'],
  store: ['ENOSPC', 'EMFILE'],
  make: ['ENOSPC', 'EIO'],
  rename: ['EIO', 'ENOSPC'],
  change: ['EIO'],
  sync: ['EIO'],
  remove: ['EIO'],
  connect: ['ECONNRESET', 'EMFILE'],
  listen: ['EMFILE'],
  spawn: ['EMFILE', 'EAGAIN'],
  sql: ['SQLITE_FULL', 'SQLITE_IOERR_WRITE'],
};

/** Faults by kind alone: of calls that nobody has counted. */
export const ANY_FAULTS: readonly Fault[] = Object.entries(CODES).flatMap(([site, codes]) =>
  [1, 2, 3, 4, 5].flatMap((nth) => codes.map((code) => ({ site, nth, code }))),
);

/** As a test names it. */
export function nameOf({ site, nth, code }: Fault): string {
  return `${site} #${nth} ${code}`;
}

const ARM_MS = 60_000;

type Spawned = Omit<ServiceProcess, 'url'>;

/** A service process in which one call at a time can be made to fail. */
export class FaultyService {
  readonly process: Spawned;
  readonly #log: string;
  readonly #listening: Promise<string>;

  /** @param fault strikes while the service starts; 'count' notes the calls of the start */
  constructor(home: string, fault: Fault | 'count' | null = null) {
    this.#log = join(home, 'faults.jsonl');
    rmSync(this.#log, { force: true });
    const order = fault === null ? {} : { TROUPE_FAULT_ORDER: JSON.stringify(orderOf(fault)) };
    const { listening, ...process } = spawnServiceWithFaults(home, { TROUPE_FAULT_LOG: this.#log, ...order });
    this.process = process;
    this.#listening = listening;
  }

  /** Settles when it listens; rejects when it ends before that. */
  async calls(): Promise<ReturnType<typeof client>> {
    return client(await this.#listening);
  }

  /** What is to fail from now on. */
  async arm(fault: Fault | 'count' | null): Promise<void> {
    rmSync(this.#log, { force: true });
    const { child } = this.process;
    // It has crashed: who uses it next is told so.
    if (!child.connected) return;
    const given = once(child, 'message', { signal: limitSignal(ARM_MS) });
    child.send({ order: orderOf(fault) });
    await given;
  }

  /** Whether the fault that was armed last has struck. */
  hasStruck(): boolean {
    return this.#noted().some((line) => 'failed' in line);
  }

  /** The faults that are possible in what was counted: every place, its first and its last call, each code. */
  counted(): readonly Fault[] {
    const counts = new Map<string, number>();
    for (const { site } of this.#noted()) if (site !== undefined) counts.set(site, (counts.get(site) ?? 0) + 1);
    return [...counts].sort().flatMap(([site, count]) => {
      const codes = CODES[site.split(' ')[0] ?? ''];
      if (codes === undefined) throw new Error(`No codes for ${site}`);
      const calls = site.startsWith('sql ') ? firstAndLast(count, SQL_CALLS) : firstAndLast(count, 1);
      return calls.flatMap((nth) => codes.map((code) => ({ site, nth, code })));
    });
  }

  #noted(): readonly { readonly site?: string; readonly failed?: string }[] {
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

/** Statements of one line that fail in turn: transactions differ, files of one line hardly do. */
const SQL_CALLS = 8;

function firstAndLast(count: number, first: number): readonly number[] {
  const numbers = Array.from({ length: Math.min(count, first) }, (_, index) => index + 1);
  return count > first ? [...numbers, count] : numbers;
}

function orderOf(fault: Fault | 'count' | null): object | null {
  if (fault === null) return null;
  return fault === 'count' ? { mode: 'count' } : { mode: 'fail', ...fault };
}
