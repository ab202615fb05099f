import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder of one container. Its parts are mounted at the same paths inside, so that a path means the same file to the
 * service and to the browser. The folder itself is closed to everyone else, so what is open inside it is open only to the
 * container, whatever its user is called on this machine.
 *
 *     b-<lease>/  downloads/  the browser writes
 *                 uploads/    the service writes
 *                 s/          sockets: cdp, rfb of the container; net, proxy of the service
 */
export class WorkerFolder {
  readonly path: string;
  readonly downloads: string;
  readonly uploads: string;
  readonly sockets: string;

  constructor(path: string) {
    this.path = path;
    this.downloads = `${path}/downloads`;
    this.uploads = `${path}/uploads`;
    this.sockets = `${path}/s`;
  }

  socket(name: 'cdp' | 'rfb' | 'net' | 'proxy'): string {
    return `${this.sockets}/${name}`;
  }

  /** Makes the folder; it must not exist yet. */
  async create(): Promise<void> {
    await mkdir(this.path, { mode: 0o700 });
    for (const [part, mode] of [
      [this.downloads, 0o777],
      [this.uploads, 0o755],
      [this.sockets, 0o777],
    ] as const) {
      await mkdir(part);
      await chmod(part, mode);
    }
  }

  /** Closes the downloads to the browser once they hold this much. Answers whether they are closed. */
  async closeWhenOver(maxBytes: number): Promise<boolean> {
    const names = await readdir(this.downloads).catch((error: NodeJS.ErrnoException) => {
      // It went with its container just now.
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    let bytes = 0;
    for (const name of names) {
      bytes += (await lstat(join(this.downloads, name)).catch(() => null))?.size ?? 0;
    }
    if (bytes <= maxBytes) return false;
    await chmod(this.downloads, 0o555);
    return true;
  }

  /** Removes it with all that is inside. The container must be gone. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
}
