import type { Wire } from '../wire.js';

/** A call that leads another connection to where a clock stands. */
export type ClockCall = readonly [method: 'setSystemTime' | 'setFixedTime' | 'pauseAt', time: number];

/**
 * What the calls of a clock have come to, as Playwright reckons it: a time that runs with the machine's, or is paused; and
 * whether the page is shown one fixed time meanwhile. With it, a connection that replaces another one sets documents that
 * are yet to come to the same time.
 */
export class ClockModel {
  readonly #nowMs: () => number;
  #time: number;
  /** When `#time` was right, by the machine's clock; null: it is paused. */
  #since: number | null;
  #fixed = false;

  /** @param nowMs the machine's time, in milliseconds since the epoch */
  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.#time = nowMs();
    this.#since = this.#time;
  }

  /** A call has succeeded. */
  applied(method: string, [given]: readonly Wire[]): void {
    switch (method) {
      case 'install':
        this.#set(timeOf(memberOf(given, 'time')) ?? this.#nowMs(), false);
        return;
      case 'setSystemTime':
        this.#set(timeOf(given) ?? 0, false);
        return;
      case 'setFixedTime':
        this.#set(timeOf(given) ?? 0, true);
        return;
      case 'fastForward':
      case 'runFor':
        this.#time = this.#now() + (this.#fixed ? 0 : ticksOf(given));
        if (this.#since !== null) this.#since = this.#nowMs();
        return;
      case 'pauseAt':
        this.#time = this.#fixed ? this.#time : (timeOf(given) ?? 0);
        this.#since = null;
        return;
      case 'resume':
        this.#since ??= this.#nowMs();
        return;
      default:
    }
  }

  /** The calls that set a clock to this one's time. */
  calls(): readonly ClockCall[] {
    const now = Math.round(this.#now());
    return [
      ['setSystemTime', now],
      ...(this.#since === null ? ([['pauseAt', now]] as const) : []),
      ...(this.#fixed ? ([['setFixedTime', now]] as const) : []),
    ];
  }

  #set(time: number, fixed: boolean): void {
    this.#time = time;
    this.#fixed = fixed;
    if (this.#since !== null) this.#since = this.#nowMs();
  }

  #now(): number {
    return this.#fixed || this.#since === null ? this.#time : this.#time + this.#nowMs() - this.#since;
  }
}

/** A time as Playwright takes it; null if there is none. */
function timeOf(value: Wire | undefined): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return new Date(value).getTime();
  return Array.isArray(value) && value[0] === 'd' ? new Date(String(value[1])).getTime() : null;
}

/** Milliseconds, or `ss`, `mm:ss` or `hh:mm:ss`. */
function ticksOf(value: Wire | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return 0;
  return value.split(':').reduce((seconds, part) => seconds * 60 + Number.parseInt(part, 10), 0) * 1_000;
}

function memberOf(value: Wire | undefined, name: string): Wire | undefined {
  if (!Array.isArray(value) || value[0] !== 'o') return undefined;
  const members: readonly (readonly [string, Wire])[] = value[1];
  return members.find(([member]) => member === name)?.[1];
}
