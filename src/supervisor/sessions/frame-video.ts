import { Readable } from 'node:stream';
import type { PictureBudget, Watched } from '../../agent-js/pictures/picture-budget.js';
import { limitSignal, pause, settlesWithin, stretched, Wakeups } from '../../base/deadline.js';
import type { FrameRequest, ScreenFrame } from '../../session/screen.js';
import type { VideoPicture } from '../../session/video/messages.js';
import type { VideoSource } from './session-video.js';

/** A video that is being encoded. Calls come one after another; each returns the next bytes of the file. */
export interface VideoRecording {
  encode(picture: VideoPicture): Promise<Uint8Array>;
  hold(atMs: number): Promise<Uint8Array>;
  end(atMs: number): Promise<Uint8Array>;
  /** Idempotent. */
  abandon(): void;
}

/** Encodes videos in a browser of its own, which runs only while there are any. */
export interface VideoEncoders {
  /** Limits what pictures of all sessions cost. */
  readonly pictures: PictureBudget;
  /** @throws UNAVAILABLE */
  begin(signal: AbortSignal): Promise<VideoRecording>;
  /** Whether the lease is the encoder's. */
  holdsLease(leaseId: string): boolean;
}

/** Requests a frame of the session's screen; undefined if the session cannot answer now. */
export type NextVideoFrame = (order: FrameRequest, signal: AbortSignal) => Promise<ScreenFrame | null | undefined>;

/** The width of a video; of a taller page, the height. */
const MAX_PIXELS = 1_280;
/** A page that does not change is asked for no longer than this at once, since its tab may no longer be the one in front. */
const QUIET_MS = 1_000;
/** The least time between two frames, and the longest if the machine is busy. */
const FRAME_MS = 100;
const MAX_FRAME_MS = 1_000;
/** To encode a frame costs about as much as to draw it. */
const ENCODED = 2;
/** How soon a session that could not answer is asked again. */
const RETRY_MS = 100;
/** How long the end of a session waits for its last frame. */
const LAST_FRAME_MS = 300;
/** Frames that wait for the encoder, in bytes: it may still be starting, or the machine is busy. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
const MAX_QUEUED = 100;

type Queued =
  | { readonly kind: 'picture'; readonly picture: VideoPicture }
  | { readonly kind: 'hold'; readonly atMs: number };

/**
 * A video made from the frames of the session's screen. Frames are pulled one at a time, each only when the browser has
 * painted something new; a page that stays as it is sends none. They wait in a bounded queue for the encoder; if it is
 * full, no frame is pulled, so the video has fewer.
 */
export class FrameVideo implements VideoSource, Watched {
  readonly wantsMs = FRAME_MS;
  readonly isControlled = false;
  readonly lastPartsMs = 8_000;
  readonly #next: NextVideoFrame;
  readonly #encoders: VideoEncoders;
  readonly #startedAt = performance.now();
  readonly #queue: Queued[] = [];
  readonly #changes = new Wakeups();
  readonly #finishing = new AbortController();
  #queuedBytes = 0;
  #isQuiet = true;
  #last: ScreenFrame | null = null;
  #pulled: Promise<void> = Promise.resolve();
  #isComplete = false;

  constructor(next: NextVideoFrame, encoders: VideoEncoders) {
    this.#next = next;
    this.#encoders = encoders;
  }

  async start(signal: AbortSignal): Promise<Readable> {
    const { pictures } = this.#encoders;
    pictures.join(this);
    this.#pulled = this.#pull(AbortSignal.any([signal, this.#finishing.signal])).finally(() => pictures.leave(this));
    try {
      const recording = await this.#encoders.begin(signal);
      return Readable.from(this.#parts(recording, signal), { objectMode: false });
    } catch (error) {
      this.#finishing.abort();
      this.#queue.length = 0;
      throw error;
    }
  }

  /** Takes the last frame, while the session can still answer. Idempotent. */
  async finish(): Promise<void> {
    if (this.#finishing.signal.aborted) return;
    this.#finishing.abort();
    await this.#pulled;
    const asked = this.#next(orderOf(0, stretched(LAST_FRAME_MS)), limitSignal(LAST_FRAME_MS)).then((frame) => {
      if (frame) this.#add(frame);
    });
    await settlesWithin(asked, LAST_FRAME_MS);
    this.#isComplete = true;
    this.#changes.wake();
  }

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get megapixels(): number {
    if (this.#last === null) return 0;
    const { width, height } = this.#last;
    return (ENCODED * width * height * Math.min(1, MAX_PIXELS / width) ** 2) / 1e6;
  }

  get #atMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Never rejects. */
  async #pull(signal: AbortSignal): Promise<void> {
    let after = 0;
    while (!signal.aborted) {
      const askedAt = performance.now();
      const frame = await this.#next(orderOf(after, QUIET_MS), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (frame === undefined) {
        after = 0;
        await pause(RETRY_MS, { signal }).catch(() => undefined);
        continue;
      }
      this.#isQuiet = frame === null;
      if (frame === null) {
        this.#hold();
        continue;
      }
      after = frame.number;
      this.#add(frame);
      const paceMs = Math.min(MAX_FRAME_MS, this.#encoders.pictures.paceOf(this));
      const leftMs = paceMs - (performance.now() - askedAt);
      await pause(Math.max(0, leftMs), { signal }).catch(() => undefined);
      while (this.#isFull && !signal.aborted) await this.#changes.next(signal);
    }
  }

  get #isFull(): boolean {
    return this.#queue.length >= MAX_QUEUED || this.#queuedBytes >= MAX_QUEUED_BYTES;
  }

  #add(frame: ScreenFrame): void {
    const { jpeg: image } = frame;
    if (this.#last !== null && Buffer.compare(this.#last.jpeg, image) === 0) return;
    this.#last = frame;
    this.#queuedBytes += image.length;
    this.#queue.push({ kind: 'picture', picture: { image, atMs: this.#atMs } });
    this.#changes.wake();
  }

  /** Nothing has changed for a while. */
  #hold(): void {
    const newest = this.#queue.at(-1);
    if (newest?.kind === 'hold') this.#queue.pop();
    this.#queue.push({ kind: 'hold', atMs: this.#atMs });
    this.#changes.wake();
  }

  async *#parts(recording: VideoRecording, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        signal.throwIfAborted();
        const next = this.#queue.shift();
        if (next === undefined) {
          if (this.#isComplete) break;
          await this.#changes.next(signal);
          continue;
        }
        if (next.kind === 'picture') {
          this.#queuedBytes -= next.picture.image.length;
          this.#changes.wake();
          yield await recording.encode(next.picture);
        } else yield await recording.hold(next.atMs);
      }
      yield await recording.end(this.#atMs);
    } finally {
      recording.abandon();
      this.#finishing.abort();
      this.#queue.length = 0;
    }
  }
}

function orderOf(after: number, timeoutMs: number): FrameRequest {
  return { after, timeoutMs, width: MAX_PIXELS, still: false };
}
