import type { Child } from '../../actors/child.js';
import type { Supervision } from '../../actors/supervision.js';
import type { PictureBudget } from '../../agent-js/pictures/picture-budget.js';
import type { Clock } from '../../base/clock.js';
import { withDeadline } from '../../base/deadline.js';
import type { BrowserLease, Driver } from '../../containers/driver.js';
import { TroupeError } from '../../protocol/errors.js';
import { VideoEncoderActor, type VideoEncoderMessages } from '../../session/video/messages.js';
import type { Log } from '../../telemetry/log.js';
import { newSessionId, type VideoEncoders, type VideoRecording } from '../sessions/index.js';
import { leaseOptions, releaseLease } from './open-browser.js';

/** How long the encoder's browser may take to start. */
const START_MS = 30_000;
const STOP_MS = 700;
/** The longest that a message to the encoder may take; a busy machine encodes a frame in a few hundred milliseconds. */
const ENCODE_MS = 12_000;
/** How long the browser is kept when no video is made. */
const LINGER_MS = 10_000;

interface Encoder {
  readonly lease: BrowserLease;
  readonly child: Child<VideoEncoderMessages, never>;
}

/**
 * Encodes the videos of all sessions whose driver cannot record them, in one browser without network, started with the
 * first video and ended some seconds after the last one. It owns the lease of that browser. A service that is killed leaves
 * the browser behind, and the next one removes it like any other that belongs to no session.
 */
export class VideoEncoding implements VideoEncoders {
  readonly pictures: PictureBudget;
  readonly #driver: Driver;
  readonly #supervision: Supervision;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #leases = new Set<string>();
  readonly #closing = new AbortController();
  /** The encoder for new videos; null if the next one starts it. */
  #encoder: Promise<Encoder> | null = null;
  /** What it has become. */
  #running: Encoder | null = null;
  #recordings = 0;
  #cancelLinger: () => void = () => undefined;
  #removing: Promise<void> = Promise.resolve();

  constructor(parts: {
    readonly driver: Driver;
    readonly supervision: Supervision;
    readonly clock: Clock;
    readonly log: Log;
    /** Shared with the viewers of live screens. */
    readonly pictures: PictureBudget;
  }) {
    this.pictures = parts.pictures;
    this.#driver = parts.driver;
    this.#supervision = parts.supervision;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  holdsLease(leaseId: string): boolean {
    return this.#leases.has(leaseId);
  }

  async begin(signal: AbortSignal): Promise<VideoRecording> {
    this.#cancelLinger();
    this.#recordings += 1;
    let isOpen = true;
    const done = (): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#recordings -= 1;
      if (this.#recordings === 0) this.#linger();
    };
    try {
      this.#encoder ??= this.#start();
      const { child } = await withDeadline(this.#encoder, { signal });
      const bounds = { deadlineMs: ENCODE_MS, signal };
      const recording = await child.ref.ask('Begin', null, bounds);
      return {
        encode: (picture) => child.ref.ask('Encode', { recording, ...picture }, bounds),
        hold: (atMs) => child.ref.ask('Hold', { recording, atMs }, bounds),
        end: (atMs) => child.ref.ask('End', { recording, atMs }, bounds),
        abandon: () => {
          if (isOpen) child.ref.tell('Abandon', { recording });
          done();
        },
      };
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Ends the encoder and removes its browser. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new TroupeError('UNAVAILABLE', 'The service is stopping; no video is made'));
    this.#cancelLinger();
    await this.#end();
    await this.#removing;
  }

  async #start(): Promise<Encoder> {
    this.#closing.signal.throwIfAborted();
    await this.#removing;
    const id = newSessionId();
    const signal = this.#closing.signal;
    this.#leases.add(id);
    let lease: BrowserLease | null = null;
    try {
      lease = await this.#driver.lease(leaseOptions(id, {}), { signal, deadlineMs: START_MS });
      // It needs nothing of the network: the one host is no host.
      lease.permit({ egress: { allow: ['encoder.invalid'] } });
      const devTools = lease.devTools();
      const child = await this.#supervision.start({
        id: `video-encoder-${id}`,
        kind: VideoEncoderActor,
        args: () => ({ devTools }),
        restart: 'temporary',
        shutdownMs: STOP_MS,
        thread: 'least-loaded',
        ready: (ref) => ref.ask('Open', { timeoutMs: START_MS }, { deadlineMs: START_MS, signal }),
      });
      const encoder = { lease, child };
      this.#running = encoder;
      void child.terminated.then(() => this.#remove(encoder));
      return encoder;
    } catch (error) {
      this.#encoder = null;
      if (lease !== null) await releaseLease(lease, this.#log);
      this.#leases.delete(id);
      throw error;
    }
  }

  #linger(): void {
    this.#cancelLinger = this.#clock.after(LINGER_MS, () => void this.#end());
  }

  /** Never rejects. */
  async #end(): Promise<void> {
    // A video that begins meanwhile gets an encoder of its own.
    const ending = this.#encoder;
    this.#encoder = null;
    const encoder = await ending?.catch(() => null);
    if (this.#running === encoder) this.#running = null;
    await encoder?.child.stop();
    await this.#removing;
  }

  /** The actor has ended, by itself or not: its recordings are lost, and the next one starts another. */
  #remove(encoder: Encoder): void {
    if (this.#running === encoder) {
      this.#running = null;
      this.#encoder = null;
    }
    const { lease } = encoder;
    const removing = releaseLease(lease, this.#log).then(() => {
      this.#leases.delete(lease.identity.leaseId);
    });
    this.#removing = Promise.all([this.#removing, removing]).then(() => undefined);
  }
}
