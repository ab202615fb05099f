import type { Readable } from 'node:stream';
import { assertNever } from '../../base/assert-never.js';
import { stretched } from '../../base/deadline.js';
import { deferred } from '../../base/deferred.js';
import type { BrowserEndpoint, BrowserLease, DevToolsAddress, NetworkWish } from '../driver.js';
import type { ContainerEvent } from './container-watch.js';
import type { DockerIdentity } from './docker-identity.js';
import { WorkerFolder } from './worker-folder.js';

/** What a lease needs of its driver. */
export interface LeaseCare {
  permit(wish: NetworkWish): void;
  recordVideo(signal: AbortSignal): Promise<Readable>;
  /** Removes container, folder and ways out. Rejects when something is left; may be called again. */
  remove(): Promise<void>;
  /** The last lines that the container wrote; empty when there are none. */
  exitOutput(): Promise<string>;
  /** Whether its browser answers just now. */
  answers(): Promise<boolean>;
  readonly memoryMb: number;
  /** A container may be paused this long, in milliseconds. */
  readonly maxPauseMs: number;
}

/** Signals that a container's exit code may stand for, above 128. */
const KILLED = 137;

/** One worker of the docker driver, started by this service or by one before it. */
export class DockerLease implements BrowserLease {
  readonly identity: DockerIdentity;
  readonly endpoint: BrowserEndpoint;
  readonly exited: Promise<{ readonly reason: string }>;
  readonly folder: WorkerFolder;
  readonly #care: LeaseCare;
  readonly #exited = deferred<{ readonly reason: string }>();
  #pause: NodeJS.Timeout | undefined;
  #release: Promise<void> | null = null;

  constructor(identity: DockerIdentity, care: LeaseCare) {
    this.identity = identity;
    this.folder = new WorkerFolder(identity.folder);
    this.endpoint = {
      product: identity.product,
      downloadsDir: this.folder.downloads,
      uploadsDir: this.folder.uploads,
      desktopSocket: this.folder.socket('rfb'),
    };
    this.#care = care;
    this.exited = this.#exited.promise;
  }

  devTools(): DevToolsAddress {
    return { kind: 'socket', url: this.identity.cdpUrl };
  }

  permit(wish: NetworkWish): void {
    this.#care.permit(wish);
  }

  recordVideo(signal: AbortSignal): Promise<Readable> {
    return this.#care.recordVideo(signal);
  }

  /** What its container met with. Never rejects. */
  async observe(event: ContainerEvent): Promise<void> {
    if (this.#release !== null) return;
    switch (event.type) {
      case 'oom':
        // Whatever the kernel chose to kill, what is left of the browser is not to be trusted.
        return this.#lost(`it hit its memory limit of ${this.#care.memoryMb} MB`);
      case 'die':
        return this.#lost(await this.#howItEnded(event.exitCode));
      case 'pause':
        this.#pause ??= setTimeout(
          () => this.#lost('its container was paused for too long'),
          stretched(this.#care.maxPauseMs),
        );
        this.#pause.unref();
        return;
      case 'unpause':
        clearTimeout(this.#pause);
        this.#pause = undefined;
        return;
      case 'lost':
        // Containers can outlive their engine, where it is set up so.
        if (!(await this.#care.answers())) this.#lost(event.why);
        return;
      default:
        return assertNever(event);
    }
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
    clearTimeout(this.#pause);
    this.#lost('it was released');
    await this.#care.remove();
  }

  #lost(reason: string): void {
    this.#exited.resolve({ reason });
  }

  async #howItEnded(exitCode: number): Promise<string> {
    // The container's own end, or that of its browser, whose code it ends with.
    if (exitCode === KILLED) return 'it was killed';
    const words = await this.#care.exitOutput().catch(() => '');
    return `its container ended with exit code ${exitCode}${words === '' ? '' : `; its last output: ${words}`}`;
  }
}
