import type { BrowserEndpoint, BrowserLease, DevToolsAddress, DevToolsPipe, NetworkWish } from '../driver.js';
import { removeBrowser } from './browser-removal.js';
import { giveUpPipe, openPipe } from './devtools-pipe.js';
import type { LeaseFolder } from './lease-folder.js';
import type { ProcessIdentity } from './process-identity.js';

/** What a lease needs of its driver. */
export interface ProcessLeaseParts {
  /** Settles with the way in which the browser's process ended. */
  readonly ended: Promise<string>;
  permit(wish: NetworkWish): void;
  /** Called once nothing of the browser is left. */
  gone(): Promise<void>;
}

/** One browser of the process driver, started by this service or by one before it. */
export class ProcessLease implements BrowserLease {
  readonly identity: ProcessIdentity;
  readonly endpoint: BrowserEndpoint;
  readonly exited: Promise<{ readonly reason: string }>;
  readonly folder: LeaseFolder;
  readonly #parts: ProcessLeaseParts;
  /** What was opened last. Its user may never have come. */
  #pipe: DevToolsPipe | null = null;
  #release: Promise<void> | null = null;

  constructor(identity: ProcessIdentity, folder: LeaseFolder, parts: ProcessLeaseParts) {
    this.identity = identity;
    this.folder = folder;
    this.endpoint = {
      product: identity.product,
      downloadsDir: folder.downloads,
      uploadsDir: folder.uploads,
    };
    this.#parts = parts;
    this.exited = parts.ended.then((how) => this.#reason(how));
  }

  devTools(): DevToolsAddress {
    const { cdpUrl } = this.identity;
    if (cdpUrl !== undefined) return { kind: 'socket', url: cdpUrl };
    if (this.#pipe !== null) giveUpPipe(this.#pipe);
    this.#pipe = openPipe(this.folder);
    return this.#pipe;
  }

  permit(wish: NetworkWish): void {
    this.#parts.permit(wish);
  }

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
    if (this.#pipe !== null) giveUpPipe(this.#pipe);
    await this.#parts.gone();
  }

  async #reason(how: string): Promise<{ readonly reason: string }> {
    if (this.#release !== null) return { reason: 'it was released' };
    const words = await this.folder.exitOutput().catch(() => '');
    return { reason: `its process ${how}${words === '' ? '' : `; its last output: ${words}`}` };
  }
}
