import { z } from 'zod';
import { fileHead, fragment, type VideoTrack } from './fragmented-mp4.js';
import type { VideoPicture } from './messages.js';

/** A player can begin at a key frame. */
const KEY_EVERY_MS = 10_000;
/** How long the last picture of a video is shown at least. */
const LAST_MS = 200;

const Encoded = z.object({
  data: z.base64(),
  isKey: z.boolean(),
  track: z
    .object({ codec: z.string(), width: z.int(), height: z.int(), description: z.union([z.base64(), z.literal('')]) })
    .optional(),
});

/** Calls a method of the page's encoder, see `page/encoder.entry.ts`. */
export type CallEncoder = (method: 'encode' | 'repeat', args: readonly unknown[]) => Promise<unknown>;

interface PendingFrame {
  readonly data: Uint8Array;
  readonly isKey: boolean;
  readonly startMs: number;
}

/**
 * One video: pictures in, bytes of the file out. A frame is written once the next one says how long it was shown. One that
 * is shown for long is written by {@link hold}, and what it was shown longer is written as a repetition of a few bytes. So
 * a page that stays as it is costs nothing, and the times are right without gaps.
 */
export class Recording {
  readonly #call: CallEncoder;
  #pending: PendingFrame | null = null;
  #writtenUntilMs = 0;
  #lastKeyMs = Number.NEGATIVE_INFINITY;
  #fragments = 0;
  #hasHead = false;

  constructor(call: CallEncoder) {
    this.#call = call;
  }

  async encode({ image, atMs }: VideoPicture): Promise<Buffer> {
    const isFirst = !this.#hasHead;
    const startMs = isFirst ? 0 : Math.max(Math.round(atMs), this.#earliestMs());
    const before = isFirst ? Buffer.alloc(0) : await this.#writeUntil(startMs);
    const picture = Buffer.from(image).toString('base64');
    const isKey = startMs - this.#lastKeyMs >= KEY_EVERY_MS;
    const { head, frame } = await this.#encoded('encode', [picture, startMs, isKey], startMs);
    this.#pending = frame;
    return Buffer.concat([before, head]);
  }

  hold(atMs: number): Promise<Buffer> {
    return this.#pending === null ? Promise.resolve(Buffer.alloc(0)) : this.#writeUntil(this.#endMs(atMs));
  }

  end(atMs: number): Promise<Buffer> {
    return this.#hasHead ? this.#writeUntil(this.#endMs(atMs)) : Promise.resolve(Buffer.alloc(0));
  }

  #endMs(atMs: number): number {
    return Math.max(Math.round(atMs), this.#pending === null ? 0 : this.#pending.startMs + LAST_MS);
  }

  /** Times of a file only grow. */
  #earliestMs(): number {
    return this.#pending === null ? this.#writtenUntilMs : this.#pending.startMs + 1;
  }

  async #writeUntil(untilMs: number): Promise<Buffer> {
    const startMs = this.#pending?.startMs ?? this.#writtenUntilMs;
    if (untilMs <= startMs) return Buffer.alloc(0);
    const frame = this.#pending ?? (await this.#encoded('repeat', [startMs], startMs)).frame;
    this.#pending = null;
    this.#writtenUntilMs = untilMs;
    this.#fragments += 1;
    return fragment(this.#fragments, { ...frame, durationMs: untilMs - startMs });
  }

  async #encoded(method: 'encode' | 'repeat', args: readonly unknown[], startMs: number) {
    const { data, isKey, track } = Encoded.parse(await this.#call(method, args));
    if (isKey) this.#lastKeyMs = startMs;
    const frame: PendingFrame = { data: Buffer.from(data, 'base64'), isKey, startMs };
    return { frame, head: this.#head(track) };
  }

  #head(track: z.infer<typeof Encoded>['track']): Buffer {
    if (this.#hasHead || track === undefined) return Buffer.alloc(0);
    this.#hasHead = true;
    const described: VideoTrack = { ...track, description: Buffer.from(track.description, 'base64') };
    return fileHead(described);
  }
}
