import { lstat } from 'node:fs/promises';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import { asAbsent } from '../../base/system-fault.js';
import { contentOf, openRegularFile } from '../../files/regular-file.js';
import type { SessionId } from '../../protocol/session.js';
import { archiveEntries } from '../../report/archive.js';

/** Files of one session that are sent at once. */
const FILES_AT_ONCE = 4;
/** A younger file of a running session may still be written. */
const STEADY_MS = 2_000;
/** What does not change when it is written once; the rest changes until the end. */
const EARLY = /^(?!downloads\/)[^/]+\//;

/** Sends the files of a session's folder to the store, each once unless it has changed. */
export class SentFiles {
  readonly #store: ArtifactStore;
  readonly #id: SessionId;
  /** What was sent, by path. */
  readonly #sent = new Map<string, string>();
  #isClean = false;

  constructor(store: ArtifactStore, id: SessionId) {
    this.#store = store;
    this.#id = id;
  }

  /**
   * Sends what is not in the store yet.
   * @param early only what is complete while the session runs: pictures, healed flows, baselines, PDFs
   * @returns how many files were sent
   * @throws UNAVAILABLE from the store; a disk error; the signal's reason
   */
  async send(
    dir: string,
    { early, signal }: { readonly early: boolean; readonly signal: AbortSignal },
  ): Promise<number> {
    const wanted: { readonly name: string; readonly path: string }[] = [];
    for await (const { name, path } of archiveEntries({ dir })) {
      if (early && !EARLY.test(name)) continue;
      const print = await fingerprint(path, early ? STEADY_MS : 0);
      if (print !== null && this.#sent.get(name) !== print) wanted.push({ name, path });
    }
    if (wanted.length === 0) return 0;
    if (!this.#isClean) {
      // An earlier run may have been killed in the middle of an upload.
      await this.#store.dropUnfinished(this.#id);
      this.#isClean = true;
    }
    const left = wanted.values();
    const stopped = new AbortController();
    const both = AbortSignal.any([signal, stopped.signal]);
    const sendNext = async () => {
      for (const { name, path } of left) {
        if (both.aborted) return;
        try {
          await this.#put(name, path, both);
        } catch (error) {
          stopped.abort(error);
          throw error;
        }
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: FILES_AT_ONCE }, sendNext));
    signal.throwIfAborted();
    if (stopped.signal.aborted) throw stopped.signal.reason;
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return wanted.length;
  }

  async #put(name: string, path: string, signal: AbortSignal): Promise<void> {
    const opened = await openRegularFile(path);
    // It was removed meanwhile.
    if (opened === null) return;
    const { stats } = opened;
    const place = { session: this.#id, path: name };
    await this.#store.put(place, contentOf(opened), { bytes: stats.size, signal });
    this.#sent.set(name, printOf(stats));
  }
}

async function fingerprint(path: string, steadyMs: number): Promise<string | null> {
  const stats = await lstat(path).catch(asAbsent);
  if (stats === null || !stats.isFile() || Date.now() - stats.mtimeMs < steadyMs) return null;
  return printOf(stats);
}

function printOf({
  size,
  mtimeMs,
  ino,
}: {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}): string {
  return `${size} ${mtimeMs} ${ino}`;
}
