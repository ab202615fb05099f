import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../base/deadline.js';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import { VIDEO } from '../../report/video.js';

/** The longest recording; at five frames a second this is hours of a busy page. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** The most recordings of a session that is resumed many times. */
const MAX_VIDEOS = 100;
/** How long to wait for the last frames when the browser has ended. */
const LAST_FRAMES_MS = 300;

/**
 * The video of one browser, written while it is recorded: `video.mp4` in the session's folder, `video-2.mp4` for the
 * session's next browser. What is on disk can be played, even if the recording or the service ends abruptly.
 */
export class SessionVideo {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  /** @param dir the session's folder, created if needed */
  constructor(record: NonNullable<BrowserLease['recordVideo']>, dir: string, log: (line: string) => void) {
    this.#done = this.#write(record, dir).catch((error) => {
      if (!this.#stopping.signal.aborted) log(`its video ended early: ${sentenceOf(error)}`);
    });
  }

  /** Call when the browser has ended, which also ends the recording. Idempotent. Never rejects. */
  async stop(): Promise<void> {
    if (!(await settlesWithin(this.#done, LAST_FRAMES_MS))) this.#stopping.abort();
    await this.#done;
  }

  async #write(record: NonNullable<BrowserLease['recordVideo']>, dir: string): Promise<void> {
    const frames = await record(this.#stopping.signal);
    const file = await nextFile(dir);
    try {
      await copy(frames, file);
    } finally {
      frames.destroy();
      await file.close();
    }
  }
}

async function copy(frames: Readable, file: FileHandle): Promise<void> {
  let bytes = 0;
  for await (const part of frames) {
    bytes += part.length;
    if (bytes > MAX_BYTES) return;
    await file.writeFile(part);
  }
}

/** Removes a session's videos. Never rejects. */
export async function removeVideos(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const videos = names.filter((name) => VIDEO.test(name));
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
