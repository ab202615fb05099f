import { chmod, chown, mkdir, open, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { asAbsent } from '../../base/system-fault.js';
import { removeFolder } from '../../files/remove-folder.js';
import type { BrowserUser } from '../chromium/browser-user.js';
import { ProcessNote, profileOf } from './process-identity.js';

/** Of a log, only what came last is of use. */
const MAX_LOG_BYTES = 1_048_576;
const TAIL_BYTES = 16_384;

/**
 * The folder of one lease. It belongs to the service; the browser may write to its own folders inside and nowhere
 * else, so that a page which took its browser over cannot change what the service believes of it.
 *
 *     b-<lease>/  identity.json  browser.log  uploads/   the service's
 *                 devtools.in  devtools.out  sessions    the service's; the browser holds the FIFOs open
 *                 profile/  home/  tmp/  downloads/      the browser's
 */
export class LeaseFolder {
  readonly path: string;
  readonly profile: string;
  readonly home: string;
  readonly temporary: string;
  readonly downloads: string;
  readonly uploads: string;
  /** The browser's DevTools: what is said to it and what it says. */
  readonly pipeIn: string;
  readonly pipeOut: string;
  /** Where these two are made, before the service takes them. */
  readonly newPipeIn: string;
  readonly newPipeOut: string;
  /** Is there once both are open. */
  readonly newPipesReady: string;
  /** The DevTools sessions of those who used the pipe. */
  readonly sessionsFile: string;
  readonly #log: string;
  readonly #note: string;

  constructor(path: string) {
    this.path = path;
    this.profile = profileOf(path);
    this.home = `${path}/home`;
    this.temporary = `${path}/tmp`;
    this.downloads = `${path}/downloads`;
    this.uploads = `${path}/uploads`;
    this.pipeIn = `${path}/devtools.in`;
    this.pipeOut = `${path}/devtools.out`;
    this.newPipeIn = `${this.temporary}/devtools.in`;
    this.newPipeOut = `${this.temporary}/devtools.out`;
    this.newPipesReady = `${this.temporary}/devtools.open`;
    this.sessionsFile = `${path}/sessions`;
    this.#log = `${path}/browser.log`;
    this.#note = `${path}/identity.json`;
  }

  /** Makes the folder; it must not exist yet. */
  async create(user: BrowserUser | null): Promise<void> {
    await mkdir(this.path);
    await chmod(this.path, user === null ? 0o700 : 0o711);
    for (const own of [this.profile, this.home, this.temporary, this.downloads]) {
      await mkdir(own, { mode: 0o700 });
      if (user !== null) await chown(own, user.uid, user.gid);
    }
    await mkdir(this.uploads);
    await chmod(this.uploads, 0o755);
  }

  /** Where the browser writes what it has to say. The caller closes it. Appending, so that it can be cut while in use. */
  openLog(): ReturnType<typeof open> {
    return open(this.#log, 'a', 0o600);
  }

  /** The last lines of the log that may tell why a browser ended; empty when there are none. */
  async exitOutput(): Promise<string> {
    const file = await open(this.#log).catch(() => null);
    if (file === null) return '';
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read({ buffer: Buffer.alloc(length), length, position: size - length });
      return buffer
        .toString('utf8')
        .split('\n')
        .filter((line) => line.trim() !== '' && !NOISE.test(line))
        .slice(-8)
        .join('\n');
    } finally {
      await file.close();
    }
  }

  /** Empties a log that has grown past 1 MiB. */
  async trimLog(): Promise<void> {
    const found = await stat(this.#log).catch(() => null);
    if (found !== null && found.size > MAX_LOG_BYTES) await truncate(this.#log);
  }

  /** Remembers whose process this is, for whoever finds the folder after this service. */
  async writeNote(note: ProcessNote): Promise<void> {
    await writeFile(`${this.#note}.new`, JSON.stringify(note), { mode: 0o600 });
    await rename(`${this.#note}.new`, this.#note);
  }

  /**
   * The process that this folder was made for; null where it was never started, or its note is no note.
   * @throws a fault of the system
   */
  async readNote(): Promise<ProcessNote | null> {
    try {
      return ProcessNote.parse(JSON.parse(await readFile(this.#note, 'utf8')));
    } catch (error) {
      return asAbsent(error);
    }
  }

  /** Removes it with all that is inside. Whoever wrote there must be gone. */
  remove(): Promise<void> {
    return removeFolder(this.path);
  }
}

/** What every Chromium without a desktop complains about. */
const NOISE = /dbus\/|scaling_(cur|max)_freq|DevTools listening on|gcm\/engine|InitializeSandbox\(\) called with/;
