import { existsSync } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import { fittingFileName, isFileName } from '../../protocol/file-name.js';
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
/** Files of the same name that are told apart by a number. */
const MAX_ALIKE = 1_000;

/** A finished download, by its name in the downloads folder. */
interface Download {
  readonly name: string;
  readonly bytes: number;
  readonly url: string;
}

/** A download that has begun. */
export interface BegunDownload {
  /** It will have this name in the downloads folder. */
  readonly name: string;
  readonly url: string;
}

/** Follows what the browser saves into its downloads folder. */
export class Downloads {
  readonly #dir: string;
  readonly #emit: (event: SessionEvent) => void;
  readonly #open = new Map<string, BegunDownload & { bytes: number }>();
  readonly #finished: Download[] = [];
  readonly #condition = new Condition();
  readonly #cancel: (guid: string) => void;
  readonly #redact: (text: string) => string;
  readonly #cancelled = new Set<string>();
  /** The limit that was reported last, until it leaves room again. */
  #reported: string | null = null;
  /** Of those that have ended. */
  #bytes = 0;
  #begun: { readonly count: number; readonly last: BegunDownload | null } = { count: 0, last: null };

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

  /** How many downloads have begun, and the newest. */
  get begun(): { readonly count: number; readonly last: BegunDownload | null } {
    return this.#begun;
  }

  observe(event: CdpEvent): void {
    if (event.session !== undefined) return;
    switch (event.method) {
      case 'Browser.downloadWillBegin': {
        const { guid, url, suggestedFilename } = event.params;
        // It names a file in the folder, and a browser that a page took over may say anything.
        if (!isFileName(guid)) return;
        if (this.#open.size < MAX_OPEN) this.#begin(guid, url, suggestedFilename);
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
      throw new TroupeError('ACTION_FAILED', `${JSON.stringify(name)} is not a file name: use a name without a path`);
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

  #begin(guid: string, url: string, suggested: string): void {
    const name = this.#nameFor(suggested) ?? guid;
    this.#open.set(guid, { name, url, bytes: 0 });
    this.#begun = { count: this.#begun.count + 1, last: { name, url: url.slice(0, MAX_URL) } };
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
      const name = await this.#named(progress.guid, download.name);
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

  /** The name that a site wants for a file; a number is put behind a name that is taken. Null: too many are alike. */
  #nameFor(suggested: string): string | null {
    const plain = basename(this.#redact(suggested).replaceAll('\\', '/'))
      .replace(/\p{Cc}/gu, '')
      .replace(/\p{Cs}/gu, '_');
    const wanted = plain === '' || plain === '.' || plain === '..' ? 'download' : plain;
    const underWay = new Set(Array.from(this.#open.values(), ({ name }) => name));
    for (let number = 0; number < MAX_ALIKE; number++) {
      const name = fittingFileName(wanted, number === 0 ? '' : ` (${number})`);
      if (!underWay.has(name) && !existsSync(join(this.#dir, name))) return name;
    }
    return null;
  }

  /**
   * Gives a file, which the browser has saved under its id, its name. It keeps the id in a folder that we may not write to, or
   * if the name has been taken meanwhile.
   */
  async #named(guid: string, name: string): Promise<string> {
    const path = join(this.#dir, name);
    try {
      // Taken before it is used, since a rename does not refuse a name that is taken. No second name of the file is made
      // meanwhile: files that have two are handed out to nobody.
      await withFile(path, 'wx', async () => undefined);
    } catch {
      return guid;
    }
    try {
      await rename(join(this.#dir, guid), path);
      return name;
    } catch {
      await rm(path, { force: true }).catch(() => undefined);
      return guid;
    }
  }
}
