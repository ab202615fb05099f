import { removeBrowser } from './browser-removal.js';
import type { BrowserEndpoint, BrowserLease } from './driver.js';
import type { LeaseFolder } from './lease-folder.js';
import type { ProcessIdentity } from './process-identity.js';

/** One browser of the process driver, started by this service or by one before it. */
export class ProcessLease implements BrowserLease {
  readonly identity: ProcessIdentity;
  readonly endpoint: BrowserEndpoint;
  readonly exited: Promise<{ readonly reason: string }>;
  readonly folder: LeaseFolder;
  readonly #onGone: () => Promise<void>;
  #release: Promise<void> | null = null;

  /**
   * @param ended settles with the way in which the browser's process ended
   * @param onGone runs once nothing of the browser is left
   */
  constructor(identity: ProcessIdentity, folder: LeaseFolder, ended: Promise<string>, onGone: () => Promise<void>) {
    this.identity = identity;
    this.folder = folder;
    this.endpoint = {
      cdpUrl: identity.cdpUrl,
      product: identity.product,
      downloadsDir: folder.downloads,
      uploadsDir: folder.uploads,
    };
    this.exited = ended.then((how) => this.#reason(how));
    this.#onGone = onGone;
  }

  /** Its pages reach what this machine reaches: the driver offers nothing else, so nothing else is asked for. */
  permit(): void {}

  release(): Promise<void> {
    this.#release ??= this.#end().catch((cause: unknown) => {
      // What could not be removed now may be removable later.
      this.#release = null;
      throw cause;
    });
    return this.#release;
  }

  async #end(): Promise<void> {
    await removeBrowser(this.folder, this.identity);
    await this.#onGone();
  }

  async #reason(how: string): Promise<{ readonly reason: string }> {
    if (this.#release !== null) return { reason: 'it was given back' };
    const words = await this.folder.lastWords().catch(() => '');
    return { reason: `its process ${how}${words === '' ? '' : `; its last words: ${words}`}` };
  }
}
