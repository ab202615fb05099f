import { join } from 'node:path';
import type { Clock } from '../actors/clock.js';
import type { Config } from '../config.js';
import type { BrowserEndpoint, BrowserLease } from '../containers/driver.js';
import { sentenceOf } from '../protocol/system-fault.js';
import type { Place } from './admission.js';
import type { SessionChild } from './session-child.js';
import { keepDownloads } from './session-files.js';
import { dropFilms, SessionFilm } from './session-film.js';

/**
 * What a living session holds: its place, its browser's lease and its actor, taken in this order. All of it is given
 * back together, whatever the reason.
 */
export class SessionHoldings {
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  readonly #dir: string;
  readonly #video: Config['video'];
  #place: Place | undefined;
  #lease: BrowserLease | undefined;
  /** On its way out: still this session's, and of no use to it. */
  #leaving: BrowserLease | undefined;
  #child: SessionChild | undefined;
  #film: SessionFilm | undefined;

  /**
   * @param dir where downloads and films go that outlive the browser
   * @param video whether one is made of what its desktop shows
   */
  constructor(dir: string, video: Config['video'], clock: Clock, log: (line: string) => void) {
    this.#dir = dir;
    this.#video = video;
    this.#clock = clock;
    this.#log = log;
  }

  get place(): Place | undefined {
    return this.#place;
  }

  /** Until nothing is left of the browser. */
  get lease(): BrowserLease | undefined {
    return this.#lease ?? this.#leaving;
  }

  get child(): SessionChild | undefined {
    return this.#child;
  }

  /** Where the browser is and its files are, while there is one. */
  get endpoint(): BrowserEndpoint | null {
    return this.#lease?.endpoint ?? null;
  }

  takePlace(place: Place): void {
    this.#place = place;
  }

  takeLease(lease: BrowserLease): void {
    this.#lease = lease;
    if (this.#video !== 'off' && lease.film) this.#film = new SessionFilm(lease.film.bind(lease), this.#dir, this.#log);
  }

  takeChild(child: SessionChild): void {
    this.#child = child;
  }

  /** Stops the actor, and waits for it as long as is allowed here, in milliseconds. */
  async actorStopped(ms: number): Promise<void> {
    if (this.#child !== undefined) await this.#atMost(ms, this.#child.stop());
  }

  /** Where no script runs, the last words are said without waiting for the actor's end. */
  async actorSettled(deadlineMs: number): Promise<void> {
    await this.#child?.ref.ask('Settle', null, { deadlineMs }).catch(() => undefined);
  }

  /** Settles when the driver has said how the browser ended, or after so many milliseconds. */
  async driversWord(ms: number): Promise<void> {
    if (this.#lease !== undefined) await this.#atMost(ms, this.#lease.exited);
  }

  #atMost(ms: number, settled: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      void settled.then(() => {
        cancel();
        resolve();
      });
    });
  }

  /**
   * In the reverse order of taking. Idempotent: what was given back is forgotten. Never rejects.
   * @param completed the session is over and did what it should: films that were made for a failure go
   */
  async giveBack(completed = false): Promise<void> {
    await this.giveBackBrowser();
    if (completed && this.#video === 'on-failure') await dropFilms(this.#dir);
    const place = this.#place;
    this.#place = undefined;
    place?.release();
  }

  /** The browser and its actor alone; the place is kept for another. */
  async giveBackBrowser(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.stop();
    const lease = this.#lease;
    if (lease === undefined) return;
    await keepDownloads(lease.endpoint.downloadsDir, join(this.#dir, 'downloads')).catch((error) => {
      this.#log(`downloads could not be kept: ${sentenceOf(error)}`);
    });
    this.#leaving = lease;
    this.#lease = undefined;
    await lease.release().catch((error) => this.#log(`its browser could not be removed: ${sentenceOf(error)}`));
    this.#leaving = undefined;
    await this.#film?.stop();
    this.#film = undefined;
  }
}
