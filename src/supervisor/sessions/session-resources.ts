import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { startLimit } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { BrowserLease } from '../../containers/driver.js';
import { keepDownloads } from '../artifacts/index.js';
import { FrameVideo, type NextVideoFrame, type VideoEncoders } from './frame-video.js';
import type { SecondBrowsers } from './second-browsers.js';
import type { SessionChild } from './session-child.js';
import { heldBy, type LifecycleInput, type SessionLifecycle } from './session-lifecycle.js';
import { removeVideos, SessionVideo, type VideoSource } from './session-video.js';

/** How much later than the connection's end a driver may report how the browser ended. */
const EXIT_REASON_MS = 1_000;
/** How long the last frames of a desktop may take when the browser has ended. */
const LAST_PARTS_MS = 300;
/** How much longer than the picture of its last step an actor may take to emit what it has. */
const SETTLE_MS = 1_000;
/** How much later than its own deadline an actor's reply may arrive. */
const FRAME_GRACE_MS = 2_000;

/** What releasing needs from a session. */
interface ResourceOwner {
  /** The folder for downloads and videos, which outlive the browser. */
  readonly dir: string;
  readonly video: Config['video'];
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly videos: VideoEncoders;
  readonly seconds: SecondBrowsers;
  /** Called once if the video ends early; it may be after the end of the session. */
  readonly videoFailed: (reason: string) => void;
  state(): SessionLifecycle;
  advance(input: LifecycleInput): void;
}

/** Acquires and releases a session's resources. {@link SessionLifecycle} records which ones are held. */
export class SessionResources {
  readonly #owner: ResourceOwner;

  constructor(owner: ResourceOwner) {
    this.#owner = owner;
  }

  /** Takes ownership of the lease, and starts a video if one is configured. */
  acquire(lease: BrowserLease): void {
    const { video, dir, log, videoFailed } = this.#owner;
    const failed = (reason: string) => {
      log(`its video ended early: ${reason}`);
      videoFailed(reason);
    };
    const recorded = video === 'off' ? null : new SessionVideo(this.#videoSource(lease), dir, failed);
    this.#owner.advance({ type: 'LeaseAcquired', lease, video: recorded });
  }

  /** A driver that has no desktop to record leaves the frames of the page. */
  #videoSource(lease: BrowserLease): VideoSource {
    if (lease.recordVideo !== undefined) return { lastPartsMs: LAST_PARTS_MS, start: lease.recordVideo.bind(lease) };
    const next: NextVideoFrame = async (order, signal) =>
      this.#actor()?.ref.ask(
        'NextFrame',
        { ...order, user: 'video' },
        { deadlineMs: order.timeoutMs + FRAME_GRACE_MS, signal },
      );
    return new FrameVideo(next, this.#owner.videos);
  }

  /** Takes the last frame of the video, and stops the actor as {@link actorStopped}. */
  async actorFinished(ms: number): Promise<void> {
    await heldBy(this.#owner.state())?.video?.finish();
    await this.actorStopped(ms);
  }

  /** Stops the actor, and waits at most `ms` milliseconds for it. */
  async actorStopped(ms: number): Promise<void> {
    const actor = this.#actor();
    if (actor !== null) await this.#atMost(ms, actor.stop());
  }

  /**
   * Makes an actor without a running script emit its remaining events, without waiting for it to stop.
   * @param pictureMs how long the picture of its last step may take
   */
  async actorSettled(pictureMs: number): Promise<void> {
    await this.#actor()
      ?.ref.ask('Settle', { pictureMs }, { deadlineMs: pictureMs + SETTLE_MS })
      .catch(() => undefined);
  }

  /** Waits until the driver reports how the browser ended, for a second at most. */
  async exitReason(): Promise<void> {
    const held = heldBy(this.#owner.state());
    if (held !== null && held.lease !== null && !held.isReleasing)
      await this.#atMost(EXIT_REASON_MS, held.lease.exited);
  }

  /**
   * Releases everything, in the reverse order of acquiring. Call it again only after it has settled; it then does
   * nothing.
   * Never rejects.
   * @param completed the session succeeded: videos that were recorded for failures are removed
   */
  async release(completed = false): Promise<void> {
    const { dir, log, video, advance, seconds } = this.#owner;
    const held = heldBy(this.#owner.state());
    const isUnwanted = completed && video === 'on-failure';
    if (held !== null) {
      const { slot, lease, actor } = held;
      if (!isUnwanted) await held.video?.finish();
      advance({ type: 'ActorStopped' });
      await actor?.stop();
      const secondsReleased = seconds.release();
      if (lease !== null) {
        await keepDownloads(lease.endpoint.downloadsDir, join(dir, 'downloads')).catch((error) =>
          log(`downloads could not be kept: ${sentenceOf(error)}`),
        );
        advance({ type: 'BrowserReleasing' });
        await lease.release().catch((error) => log(`its browser could not be removed: ${sentenceOf(error)}`));
        // Encoding needs no slot.
        slot.release();
        await (isUnwanted ? held.video?.discard() : held.video?.stop());
      }
      slot.release();
      await secondsReleased;
    }
    if (isUnwanted) await removeVideos(dir);
    advance({ type: 'Released' });
  }

  #actor(): SessionChild | null {
    return heldBy(this.#owner.state())?.actor ?? null;
  }

  #atMost(ms: number, settled: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = startLimit(ms, resolve, this.#owner.clock);
      void settled.then(() => {
        cancel();
        resolve();
      });
    });
  }
}
