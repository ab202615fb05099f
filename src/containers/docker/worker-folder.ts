import { chmod, lstat, mkdir, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, ifMissing } from '../../base/system-fault.js';
import { removeFolder } from '../../files/remove-folder.js';
import type { SocketPlace } from '../gate/proxy-listener.js';
import { takeSocket } from './take-socket.js';

/** Files and folders of downloads that are counted; a folder that has more is closed. */
const MAX_COUNTED = 10_000;

/**
 * The folder of one container. Its parts are mounted at the same paths inside, so that a path means the same file to the
 * service and to the browser. The folder itself is closed to everyone else, so what is open inside it is open only to the
 * container, whatever its user is called on this machine.
 *
 *     b-<lease>/  downloads/  the browser writes
 *                 uploads/    the service writes, the browser reads
 *                 s/          the container makes its sockets here: cdp, rfb
 *                 gate/       the service's sockets, mounted read-only: net, proxy
 *                 own/        not mounted: cdp and rfb, once they were taken and checked
 *
 * What the container may write to it may also replace: by links, by other sockets. So the service connects to nothing in
 * `s/`, and makes nothing there. Containers of an earlier version have no `gate/`; the service's sockets are in `s/` then.
 */
export class WorkerFolder {
  readonly path: string;
  readonly downloads: string;
  readonly uploads: string;
  readonly sockets: string;
  readonly gate: string;
  readonly #own: string;

  constructor(path: string) {
    this.path = path;
    this.downloads = `${path}/downloads`;
    this.uploads = `${path}/uploads`;
    this.sockets = `${path}/s`;
    this.gate = `${path}/gate`;
    this.#own = `${path}/own`;
  }

  /** A socket of the container, for whoever connects to it. It is there once {@link takeSockets} says so. */
  socket(name: 'cdp' | 'rfb'): string {
    return `${this.#own}/${name}`;
  }

  /** Where the service makes a socket that the container connects to. */
  async socketPlace(name: 'net' | 'proxy'): Promise<SocketPlace> {
    const folder = (await this.#hasGate()) ? this.gate : this.sockets;
    return { madeAt: `${this.#own}/${name}`, path: `${folder}/${name}` };
  }

  /** Makes the folder; it must not exist yet. */
  async create(): Promise<void> {
    await mkdir(this.path, { mode: 0o700 });
    for (const [part, mode] of [
      [this.downloads, 0o777],
      [this.uploads, 0o755],
      [this.sockets, 0o777],
      [this.gate, 0o755],
      [this.#own, 0o700],
    ] as const) {
      await mkdir(part);
      await chmod(part, mode);
    }
  }

  /**
   * Takes the sockets that the container made, and closes their folder to it. To be called until it answers true, and
   * again by a service that adopts the container.
   * @param isOwner see {@link takeSocket}
   * @throws UNAVAILABLE where the container made something else
   */
  async takeSockets(isOwner: (uid: number) => boolean): Promise<boolean> {
    // The folder of an earlier version has none yet.
    await mkdir(this.#own, { recursive: true, mode: 0o700 });
    for (const name of ['cdp', 'rfb'] as const) {
      if (!(await takeSocket(`${this.sockets}/${name}`, this.socket(name), isOwner))) return false;
    }
    // What is written there is in nobody's count. An earlier version's doors are still made there.
    if (await this.#hasGate()) await chmod(this.sockets, 0o555);
    return true;
  }

  /** Closes the downloads to the browser once they hold this much. Answers whether they are closed. */
  async closeWhenOver(maxBytes: number): Promise<boolean> {
    if (!(await holdsMore(this.downloads, maxBytes))) return false;
    await chmod(this.downloads, 0o555);
    return true;
  }

  /** Removes it with all that is inside. The container must be gone. */
  remove(): Promise<void> {
    return removeFolder(this.path);
  }

  async #hasGate(): Promise<boolean> {
    const found = await lstat(this.gate).catch(() => null);
    return found?.isDirectory() ?? false;
  }
}

/** Whether the files below a folder, whose owner may change it meanwhile, have more bytes; also where they cannot be counted. */
async function holdsMore(folder: string, maxBytes: number): Promise<boolean> {
  let bytes = 0;
  let counted = 0;
  const waiting = [folder];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    try {
      for await (const entry of await opendir(dir)) {
        const path = join(dir, entry.name);
        counted += 1;
        if (entry.isDirectory()) waiting.push(path);
        else bytes += await sizeOf(path);
        if (bytes > maxBytes || counted > MAX_COUNTED) return true;
      }
    } catch (error) {
      const code = errorCode(error);
      // A path that is too long is none of a browser's.
      if (code === 'ENAMETOOLONG') return true;
      // It went meanwhile, with its container for one; or became something else.
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    }
  }
  return false;
}

/** Of a file that went meanwhile: 0. */
async function sizeOf(path: string): Promise<number> {
  return (await lstat(path).catch(ifMissing))?.size ?? 0;
}
