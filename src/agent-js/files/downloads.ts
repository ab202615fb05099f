import { lstat, rename, rm } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { errorCode } from '../../base/system-fault.js';
import { withFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import { isFileName } from '../../protocol/file-name.js';
import type { Bounds } from '../browser/bounds.js';
import type { CdpEvent } from '../browser/cdp.js';
import { Condition } from '../browser/condition.js';

/** Downloads remembered; the oldest go. */
const MAX_KEPT = 1_000;
/** Downloads that may be under way at once; further ones are cancelled. */
const MAX_OPEN = 100;
/** Cancelled downloads whose end has not been seen yet. */
const MAX_CANCELLED = 10_000;
/** What a session's downloads may have together: the one that passes it is cancelled, and so is each one after it. */
const MAX_BYTES = 2 * 1024 * 1024 * 1024;
const MAX_URL = 2_000;
/** Files of the same name that a number distinguishes. */
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
  readonly #cancelled = new Set<string>();
  /** The limit that was reported last, until it leaves room again. */
  #reported: string | null = null;
  /** Of those that have ended. */
  #bytes = 0;

  /**
   * @param actions.cancel cancels a download that is under way
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
        // It names a file in the folder, and a browser that a page took over may say anything.
        if (!isFileName(guid)) return;
        if (this.#open.size < MAX_OPEN) this.#open.set(guid, { url, suggested: suggestedFilename, bytes: 0 });
        else this.#refuse(guid, url, `${MAX_OPEN} downloads are under way, the most at once`);
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

  /**
   * Gives the newest finished download from an address another name in the folder, in place of a file of that name.
   * @throws ACTION_FAILED
   */
  async rename(url: string, name: string, bounds: Bounds): Promise<void> {
    if (!isFileName(name)) {
      throw new TroupeError('ACTION_FAILED', `${JSON.stringify(name)} is not a file's name: give one without a path`);
    }
    await this.list(bounds);
    const at = this.#finished.findLastIndex((one) => one.url === this.#redact(url).slice(0, MAX_URL));
    const found = this.#finished[at];
    if (found === undefined) throw new TroupeError('ACTION_FAILED', 'The download did not finish');
    try {
      await rename(join(this.#dir, found.name), join(this.#dir, name));
    } catch (cause) {
      throw new TroupeError('ACTION_FAILED', `The download keeps its name ${found.name}`, undefined, { cause });
    }
    this.#finished[at] = { ...found, name };
  }

  #grown({ guid, receivedBytes }: { guid: string; receivedBytes: number }): void {
    const download = this.#open.get(guid);
    if (download === undefined) return;
    download.bytes = receivedBytes;
    let bytes = this.#bytes;
    for (const open of this.#open.values()) bytes += open.bytes;
    if (bytes > MAX_BYTES)
      this.#refuse(guid, download.url, `the session's downloads may have ${MAX_BYTES} bytes together`);
  }

  /** Cancels a download and says why: once for each limit, until it leaves room again, since a page may try for ever. */
  #refuse(guid: string, url: string, why: string): void {
    this.#cancel(guid);
    if (this.#cancelled.has(guid)) return;
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size >= MAX_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest);
    this.#cancelled.add(guid);
    if (this.#reported === why) return;
    this.#reported = why;
    const text = `A download was cancelled: ${why} (${this.#redact(url).slice(0, 500)})`;
    this.#emit({ type: 'ConsoleWritten', data: { level: 'warn', text } });
  }

  async #ended(progress: { guid: string; state: string; receivedBytes: number }): Promise<void> {
    const download = this.#open.get(progress.guid);
    const isCancelled = this.#cancelled.delete(progress.guid);
    if (download === undefined) {
      // It was complete before the browser heard that it is cancelled.
      if (isCancelled) await rm(join(this.#dir, progress.guid), { force: true }).catch(() => undefined);
      return;
    }
    if (progress.state === 'completed') {
      this.#bytes += progress.receivedBytes;
      const name = await this.#named(progress.guid, download.suggested);
      const size = await lstat(join(this.#dir, name)).then(
        // A browser that a page took over may have put anything there.
        (stats) => (stats.isFile() ? stats.size : progress.receivedBytes),
        () => progress.receivedBytes,
      );
      const finished = { name, bytes: size, url: this.#redact(download.url).slice(0, MAX_URL) };
      this.#finished.push(finished);
      if (this.#finished.length > MAX_KEPT) this.#finished.shift();
      this.#emit({ type: 'DownloadFinished', data: finished });
    }
    this.#open.delete(progress.guid);
    this.#reported = null;
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
        if (errorCode(error) === 'EEXIST') continue;
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
