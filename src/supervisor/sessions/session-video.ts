import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../base/deadline.js';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import { VIDEO } from '../../report/video.js';

/** A longer film ends there; at five frames a second that is hours of a busy page. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** A session that is taken up again and again has so many films at most. */
const MAX_FILMS = 100;
/** What is on its way when the browser is gone has this long. */
const LAST_FRAMES_MS = 300;

/**
 * The film of one browser, written as it is made: `video.mp4` in the session's folder, `video-2.mp4` for the session's next
 * browser. What is on disk can be played, whatever ends first.
 */
export class SessionVideo {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  /** @param dir the session's folder, made if need be */
  constructor(record: NonNullable<BrowserLease['recordVideo']>, dir: string, log: (line: string) => void) {
    this.#done = this.#write(record, dir).catch((error) => {
      if (!this.#stopping.signal.aborted) log(`its video ends: ${sentenceOf(error)}`);
    });
  }

  /** Call when the browser is gone, with which it ends. Idempotent. Never rejects. */
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

/** Removes the films of a session that nobody wants to see. Never rejects. */
export async function dropVideos(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const films = names.filter((name) => VIDEO.test(name));
  await Promise.all(films.map((name) => rm(join(dir, name), { force: true }).catch(() => undefined)));
}

async function nextFile(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true });
  for (let number = 1; number <= MAX_FILMS; number += 1) {
    try {
      return await open(join(dir, number === 1 ? 'video.mp4' : `video-${number}.mp4`), 'wx', 0o644);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  throw new Error(`there are ${MAX_FILMS} films of it already`);
}
