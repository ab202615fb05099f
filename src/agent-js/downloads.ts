import { lstat, rename, rm } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { withFile } from '../files/thread-files.js';
import type { SessionEvent } from '../protocol/events.js';
import type { Bounds } from './bounds.js';
import type { CdpEvent } from './cdp.js';
import { Condition } from './condition.js';

/** Downloads remembered; the oldest go. */
const MAX_KEPT = 1_000;
/** Downloads under way that are followed; further ones still reach the folder. */
const MAX_OPEN = 100;
/** What a session's downloads may have together: the one that passes it is given up, and so is each one after it. */
const MAX_BYTES = 2 * 1024 * 1024 * 1024;
/** Files of the same name that are told apart by a number. */
const MAX_ALIKE = 1_000;

/** A finished download, by its name in the downloads folder. */
interface Download {
  readonly name: string;
  readonly bytes: number;
  readonly url: string;
}

/** Follows what the browser saves into its downloads folder. */
export class Downloads {
  readonly #dir: string;
  readonly #emit: (event: SessionEvent) => void;
  readonly #open = new Map<string, { readonly url: string; readonly suggested: string; bytes: number }>();
  readonly #finished: Download[] = [];
  readonly #condition = new Condition();
  readonly #cancel: (guid: string) => void;
  readonly #redact: (text: string) => string;
  /** Of those that have ended. */
  #bytes = 0;

  /**
   * @param actions.cancel gives up a download that is under way
   * @param actions.redact takes out of names and addresses what nobody may see: names last on disk
   */
  constructor(
    dir: string,
    actions: {
      readonly emit: (event: SessionEvent) => void;
      readonly cancel: (guid: string) => void;
      readonly redact: (text: string) => string;
    },
  ) {
    this.#dir = dir;
    this.#emit = actions.emit;
    this.#cancel = actions.cancel;
    this.#redact = actions.redact;
  }

  observe(event: CdpEvent): void {
    if (event.session !== undefined) return;
    switch (event.method) {
      case 'Browser.downloadWillBegin': {
        const { guid, url, suggestedFilename } = event.params;
        if (this.#open.size < MAX_OPEN) this.#open.set(guid, { url, suggested: suggestedFilename, bytes: 0 });
        return;
      }
      case 'Browser.downloadProgress':
        if (event.params.state !== 'inProgress') void this.#ended(event.params);
        else this.#grown(event.params);
        return;
      default:
    }
  }

  /** Those that have finished, once those under way have, or at the deadline. */
  async list(bounds: Bounds): Promise<readonly Download[]> {
    await this.#condition.until(() => this.#open.size === 0, bounds);
    return [...this.#finished];
  }

  #grown({ guid, receivedBytes }: { guid: string; receivedBytes: number }): void {
    const download = this.#open.get(guid);
    if (download !== undefined) download.bytes = receivedBytes;
    let bytes = this.#bytes;
    for (const open of this.#open.values()) bytes += open.bytes;
    if (bytes > MAX_BYTES) this.#cancel(guid);
  }

  async #ended(progress: { guid: string; state: string; receivedBytes: number }): Promise<void> {
    const download = this.#open.get(progress.guid);
    if (download === undefined) return;
    if (progress.state === 'completed') {
      this.#bytes += progress.receivedBytes;
      const name = await this.#named(progress.guid, download.suggested);
      const size = await lstat(join(this.#dir, name)).then(
        // A browser that a page took over may have put anything there.
        (stats) => (stats.isFile() ? stats.size : progress.receivedBytes),
        () => progress.receivedBytes,
      );
      const finished = { name, bytes: size, url: this.#redact(download.url).slice(0, 2_000) };
      this.#finished.push(finished);
      if (this.#finished.length > MAX_KEPT) this.#finished.shift();
      this.#emit({ type: 'DownloadFinished', data: finished });
    }
    this.#open.delete(progress.guid);
    this.#condition.changed();
  }

  /**
   * Gives a file, which the browser has saved under its id, the name that its site wants for it; a number is put behind a
   * name that is taken. A folder that we may not write to keeps the id.
   */
  async #named(guid: string, suggested: string): Promise<string> {
    const plain = basename(this.#redact(suggested).replaceAll('\\', '/')).replace(/\p{Cc}/gu, '');
    const wanted = plain === '' || plain === '.' || plain === '..' ? 'download' : plain;
    const extension = extname(wanted);
    const stem = wanted.slice(0, wanted.length - extension.length);
    const saved = join(this.#dir, guid);
    for (let number = 0; number < MAX_ALIKE; number++) {
      const name = number === 0 ? wanted : `${stem} (${number})${extension}`;
      const path = join(this.#dir, name);
      try {
        // Taken before it is used, since a rename does not refuse a name that is taken. No second name of the file is
        // made meanwhile: files that have two are handed out to nobody.
        await withFile(path, 'wx', async () => undefined);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue;
        return guid;
      }
      try {
        await rename(saved, path);
        return name;
      } catch {
        await rm(path, { force: true }).catch(() => undefined);
        return guid;
      }
    }
    return guid;
  }
}
