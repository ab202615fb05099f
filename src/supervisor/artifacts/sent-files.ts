import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import { asAbsent } from '../../base/system-fault.js';
import { contentOf, openRegularFile } from '../../files/regular-file.js';
import type { SessionId } from '../../protocol/session.js';
import { archiveEntries } from '../../report/archive.js';

/** Files of one session that are sent at once. */
const FILES_AT_ONCE = 4;
/** Larger ones are sent one by one: a store may hold several parts of each in memory. */
const LARGE_BYTES = 8 * 1024 * 1024;

interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly stats: Stats;
}

/** Sends the files of an ended session's folder to the store, each once unless it has changed. */
export class SentFiles {
  readonly #store: ArtifactStore;
  readonly #id: SessionId;
  /** The version that was sent, by name. */
  readonly #sent = new Map<string, string>();
  #isClean = false;

  constructor(store: ArtifactStore, id: SessionId) {
    this.#store = store;
    this.#id = id;
  }

  /**
   * Sends what is not in the store yet; what was sent before an error is not sent again.
   * @throws UNAVAILABLE from the store; a disk error; the signal's reason
   */
  async send(dir: string, signal: AbortSignal): Promise<void> {
    const small: FoundFile[] = [];
    const large: FoundFile[] = [];
    for await (const { name, path } of archiveEntries({ dir })) {
      const stats = await lstat(path).catch(asAbsent);
      if (stats === null || !stats.isFile() || this.#sent.get(name) === versionOf(stats)) continue;
      (stats.size > LARGE_BYTES ? large : small).push({ name, path, stats });
    }
    if (small.length + large.length === 0) return;
    if (!this.#isClean) {
      // An earlier run may have been killed in the middle of an upload.
      await this.#store.dropUnfinished(this.#id);
      this.#isClean = true;
    }
    await this.#sendAll(small, FILES_AT_ONCE, signal);
    await this.#sendAll(large, 1, signal);
  }

  /** Rejects with the first error, when nothing is under way any more. */
  async #sendAll(files: readonly FoundFile[], atOnce: number, signal: AbortSignal): Promise<void> {
    const left = files.values();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const sendNext = async () => {
      for (const file of left) {
        if (either.aborted) return;
        await this.#put(file, either).catch((error: unknown) => failed.abort(error));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sendNext));
    either.throwIfAborted();
  }

  async #put({ name, path }: FoundFile, signal: AbortSignal): Promise<void> {
    const opened = await openRegularFile(path);
    // Its folder is about to be removed, so nothing may be left out.
    if (opened === null) throw new Error(`${path} cannot be read; make it readable for the service, or remove it`);
    const { stats } = opened;
    await this.#store.put({ session: this.#id, path: name }, contentOf(opened), { bytes: stats.size, signal });
    this.#sent.set(name, versionOf(stats));
  }
}

function versionOf({ size, mtimeMs, ino }: Stats): string {
  return `${size} ${mtimeMs} ${ino}`;
}
