import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import type { Config } from '../../config.js';
import type { BrowserEndpoint, BrowserLease } from '../../containers/driver.js';
import { keepDownloads } from '../artifacts/index.js';
import type { SessionChild } from './session-child.js';
import { dropVideos, SessionVideo } from './session-video.js';

/** A place for one running session. Must be given back once; giving back again does nothing. */
export interface Slot {
  release(): void;
}

/**
 * What a living session holds: its place, its browser's lease and its actor, taken in this order. All of it is given
 * back together, whatever the reason.
 */
export class SessionResources {
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  readonly #dir: string;
  readonly #video: Config['video'];
  #slot: Slot | undefined;
  #lease: BrowserLease | undefined;
  /** On its way out: still this session's, and of no use to it. */
  #leaving: BrowserLease | undefined;
  #child: SessionChild | undefined;
  #film: SessionVideo | undefined;

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

  get slot(): Slot | undefined {
    return this.#slot;
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

  takeSlot(slot: Slot): void {
    this.#slot = slot;
  }

  takeLease(lease: BrowserLease): void {
    this.#lease = lease;
    if (this.#video !== 'off' && lease.film)
      this.#film = new SessionVideo(lease.film.bind(lease), this.#dir, this.#log);
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
  async exitReason(ms: number): Promise<void> {
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
    if (completed && this.#video === 'on-failure') await dropVideos(this.#dir);
    const slot = this.#slot;
    this.#slot = undefined;
    slot?.release();
  }

  /** The browser and its actor alone; the place is kept for another. */
  async giveBackBrowser(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.stop();
    const lease = this.#lease;
    if (lease === undefined) return;
    await keepDownloads(lease.endpoint.downloadsDir, join(this.#dir, 'downloads')).catch((error) => {
      this.#log(`downloads could not be kept: ${String(error)}`);
    });
    this.#leaving = lease;
    this.#lease = undefined;
    await lease.release().catch((error) => this.#log(`its browser could not be removed: ${String(error)}`));
    this.#leaving = undefined;
    await this.#film?.stop();
    this.#film = undefined;
  }
}
