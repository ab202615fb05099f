import { appendFile, type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../base/deadline.js';
import { deferred } from '../../base/deferred.js';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import { VIDEO, VIDEO_FAILURES } from '../../report/video.js';

/** The longest recording; at five frames a second this is hours of a busy page. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** The most recordings of a session that is resumed many times. */
const MAX_VIDEOS = 100;

/** How long a session that ends at once waits for the first frame of its video, in milliseconds. */
const FIRST_FRAME_MS = 5_000;
/** The box before each frame's data: until there is one, a file has nothing to see. */
const FRAGMENT = 'moof';

/** The reason of an abort: nobody wants the video. */
const DISCARDED = 'discarded';

/** The reason of an abort: the last parts did not come in time. */
class CutOff extends Error {
  constructor(ms: number) {
    super(`the end of the video is missing: it was not encoded within ${ms / 1_000} s after the session's end`);
  }
}

/** Where a video comes from. */
export interface VideoSource {
  /** How long to wait for the last parts when the browser has ended. */
  readonly lastPartsMs: number;
  /** The file's parts, from now on, playable up to wherever they break off. @throws UNAVAILABLE */
  start(signal: AbortSignal): Promise<Readable>;
  /** Called before the session disconnects from its browser. Bounded, and never rejects. */
  finish?(): Promise<void>;
}

/**
 * The video of one browser, written while it is recorded: `video.mp4` in the session's folder, `video-2.mp4` for the
 * session's next browser. What is on disk can be played, even if the recording or the service ends abruptly.
 */
export class SessionVideo {
  readonly #source: VideoSource;
  readonly #stopping = new AbortController();
  readonly #begun = deferred<void>();
  readonly #done: Promise<void>;

  /**
   * @param dir the session's folder, created if needed
   * @param failed called once with the reason if the video never began, ends before the session does, or lacks its end.
   *   It is also written to the folder, for the report
   */
  constructor(source: VideoSource, dir: string, failed: (reason: string) => void) {
    this.#source = source;
    this.#done = this.#write(dir).catch(async (error) => {
      const stop: unknown = this.#stopping.signal.reason;
      if (stop === DISCARDED) return;
      const reason = stop instanceof CutOff ? stop.message : sentenceOf(error);
      failed(reason);
      const line = JSON.stringify({ at: new Date().toISOString(), reason });
      // On a disk that is full, the transcript alone may have it.
      await mkdir(dir, { recursive: true }).catch(() => undefined);
      await appendFile(join(dir, VIDEO_FAILURES), `${line}\n`).catch(() => undefined);
    });
  }

  /** Takes the last frame. Call before the session disconnects from its browser. Bounded. Never rejects. */
  async finish(): Promise<void> {
    if (this.#source.finish !== undefined) await this.#source.finish();
    else await settlesWithin(Promise.race([this.#begun.promise, this.#done]), FIRST_FRAME_MS);
  }

  /** Call when the browser has ended, which also ends the recording. Idempotent. Never rejects. */
  async stop(): Promise<void> {
    const ms = this.#source.lastPartsMs;
    if (!(await settlesWithin(this.#done, ms))) this.#stopping.abort(new CutOff(ms));
    await this.#done;
  }

  /** Ends a video that nobody wants. Idempotent. Never rejects. */
  async discard(): Promise<void> {
    this.#stopping.abort(DISCARDED);
    await this.#done;
  }

  async #write(dir: string): Promise<void> {
    const parts = await this.#source.start(this.#stopping.signal);
    try {
      await copy(parts, dir, () => this.#begun.resolve());
    } finally {
      parts.destroy();
    }
  }
}

/**
 * The file is created with the first part: a video that never began leaves none.
 * @param begun called when a frame is on disk
 * @throws if no part came
 */
async function copy(parts: Readable, dir: string, begun: () => void): Promise<void> {
  let file: FileHandle | null = null;
  let bytes = 0;
  try {
    for await (const part of parts) {
      bytes += part.length;
      if (bytes > MAX_BYTES) throw new Error('the video has reached 1 GB; what followed is not in it');
      file ??= await nextFile(dir);
      await file.writeFile(part);
      if (part.includes(FRAGMENT)) begun();
    }
    if (bytes === 0) throw new Error('the session ended before the recording had begun');
  } finally {
    await file?.close();
  }
}

/** Removes a session's videos. Never rejects. */
export async function removeVideos(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const videos = names.filter((name) => VIDEO.test(name) || name === VIDEO_FAILURES);
  await Promise.all(videos.map((name) => rm(join(dir, name), { force: true }).catch(() => undefined)));
}

async function nextFile(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true });
  for (let number = 1; number <= MAX_VIDEOS; number += 1) {
    try {
      return await open(join(dir, number === 1 ? 'video.mp4' : `video-${number}.mp4`), 'wx', 0o644);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  throw new Error(`the session already has ${MAX_VIDEOS} videos`);
}
