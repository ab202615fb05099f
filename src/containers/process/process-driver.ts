import { stat, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { isAbsolute } from 'node:path';
import { limitSignal } from '../../base/deadline.js';
import { sentenceOf, systemFault } from '../../base/system-fault.js';
import { CLOSED } from '../../net-policy/egress.js';
import { TroupeError } from '../../protocol/errors.js';
import { type BrowserFolder, browserFolder, closeTemporaryFolder, openTemporaryFolder } from '../browser-folder.js';
import { type BrowserUser, browserUser } from '../chromium/browser-user.js';
import type { ChromiumBinary } from '../chromium/chromium-binary.js';
import { answersAt } from '../chromium/devtools-endpoint.js';
import type { BrowserKind, BrowserLease, Driver, LeaseIdentity, LeaseOptions, StartBounds } from '../driver.js';
import type { NetworkGate } from '../gate/network-gate.js';
import { leaseFolderPath, leaseOfFolder } from '../lease-name.js';
import { reapLeases } from '../reap-leases.js';
import { withinBounds } from '../start-bounds.js';
import { StartGate } from '../start-gate.js';
import { removeBrowser } from './browser-removal.js';
import { type ChromiumSetting, startChromium } from './chromium-process.js';
import { type Confinement, findConfinement } from './confinement.js';
import { answersAtPipe } from './devtools-pipe.js';
import { ExitWatch } from './exit-watch.js';
import { LeaseFolder } from './lease-folder.js';
import { namesProfile, ProcessIdentity } from './process-identity.js';
import { ProcessLease } from './process-lease.js';
import { leasesUnder } from './process-leases.js';
import { readProcess } from './process-table.js';

/** A browser first sends what its pages have done meanwhile: seconds' worth, on a busy machine. */
const ADOPT_MS = 10_000;
const TRIM_LOGS_EVERY_MS = 30_000;
/** With less, Chromium keeps its shared memory in its temporary folder. */
const ENOUGH_SHARED_MEMORY_BYTES = 1_073_741_824;

/**
 * Browsers as plain processes of this machine: one Chromium, one process group, one profile for each lease, headless,
 * with its sandbox unless the configuration says otherwise, as a normal user also when the service is root. They outlive
 * the service and are found again by pid, start time and profile path. Linux only.
 */
export class ProcessDriver implements Driver {
  readonly name = 'process';
  readonly browser: BrowserKind;
  readonly offers: Driver['offers'];
  /** What keeps browsers away from the service's files. */
  readonly confinement: Confinement['kind'];
  readonly #setting: ChromiumSetting;
  readonly #network: NetworkGate;
  readonly #folder: BrowserFolder;
  readonly #log: (message: string) => void;
  readonly #gate = new StartGate(Math.max(2, availableParallelism()));
  readonly #watch = new ExitWatch();
  readonly #starting = new Set<string>();
  readonly #held = new Map<string, ProcessLease>();
  readonly #adopting = new Map<string, Promise<BrowserLease | null>>();
  #trimmer: NodeJS.Timeout | null = null;

  private constructor(
    setting: ChromiumSetting,
    network: NetworkGate,
    folder: BrowserFolder,
    log: (message: string) => void,
  ) {
    this.confinement = setting.confinement.kind;
    this.offers = new Set(setting.chromium.headlessShell ? [] : ['filteredBypass']);
    const { product, headlessShell } = setting.chromium;
    this.browser = { product, form: headlessShell ? 'shell' : 'headless' };
    this.#setting = setting;
    this.#network = network;
    this.#folder = folder;
    this.#log = log;
  }

  /**
   * @param options.home the service's files, which browsers must not read; absolute
   * @param options.network their way out
   * @param options.ownPort of the service; it is closed also to what goes past `network`
   * @param options.workDir where the browsers' folders go; absolute. Where the browser's user cannot reach it, or its
   *   path is too long, they go under the system's temporary folder, and `log` reports it.
   * @param options.instance tells this installation from others on the machine: letters, digits and `-`
   * @throws UNAVAILABLE where this is not Linux, or no folder will do
   */
  static async create(options: {
    readonly chromium: ChromiumBinary;
    /** Whether Chromium's sandbox is on; by default it is. */
    readonly sandbox?: boolean | undefined;
    readonly network: NetworkGate;
    readonly ownPort: number;
    readonly home: string;
    readonly workDir: string;
    readonly instance: string;
    readonly log?: ((message: string) => void) | undefined;
    /** Who browsers run as when the service is root; by default the first normal user. */
    readonly user?: BrowserUser | undefined;
  }): Promise<ProcessDriver> {
    const { chromium, sandbox = true, network, ownPort, home, workDir, instance, log = () => undefined } = options;
    if (process.platform !== 'linux') {
      const message = `The process driver runs on Linux only, not on ${process.platform}; use --driver docker`;
      throw new TroupeError('UNAVAILABLE', message);
    }
    if (!isAbsolute(workDir)) throw new TroupeError('INTERNAL', `workDir is not absolute: ${workDir}`);
    if (!/^[\w-]{1,20}$/.test(instance)) throw new TroupeError('INTERNAL', `Not an instance id: ${instance}`);
    const user = browserUser(options.user);
    const folder = await browserFolder(workDir, { instance, driver: 'process' }, user);
    if (folder.moved !== null) log(`Browsers keep their files in ${folder.path}: ${folder.moved}`);
    const smallSharedMemory = !(await hasSharedMemory());
    const confinement = await findConfinement(home, chromium, { user, sandbox });
    const setting = { chromium, sandbox, user, smallSharedMemory, confinement, ownPort };
    return new ProcessDriver(setting, network, folder, log);
  }

  async lease(options: LeaseOptions, bounds: StartBounds): Promise<BrowserLease> {
    const { leaseId } = options;
    const folder = this.#leaseFolder(leaseId);
    if (this.#starting.has(leaseId) || this.#held.has(leaseId)) {
      throw new TroupeError('INTERNAL', `Lease ${leaseId} has a browser already`);
    }
    this.#starting.add(leaseId);
    try {
      return await withinBounds(bounds, (signal) => this.#start(options, folder, signal));
    } catch (cause) {
      await this.#network.close(leaseId);
      this.#starting.delete(leaseId);
      await this.#tidy();
      if (cause instanceof TroupeError || systemFault(cause) !== null) throw cause;
      throw new TroupeError('UNAVAILABLE', `A browser could not be started: ${sentenceOf(cause)}`, undefined, {
        cause,
      });
    } finally {
      this.#starting.delete(leaseId);
    }
  }

  async adopt(identity: LeaseIdentity): Promise<BrowserLease | null> {
    const parsed = ProcessIdentity.safeParse(identity);
    if (!parsed.success || leaseOfFolder(`b-${parsed.data.leaseId}`) === null) return null;
    const known = parsed.data;
    const held = this.#held.get(known.leaseId);
    if (held !== undefined) return held;
    const folder = this.#leaseFolder(known.leaseId);
    const found = readProcess(known.pid);
    if (found?.startTicks !== known.startTicks || known.folder !== folder.path) return null;
    if (!namesProfile(found.commandLine, folder.path)) return null;
    // Only one may read from a pipe: a second call must not begin while the first is under way.
    const adopting = this.#adopting.get(known.leaseId) ?? this.#adopt(known, folder);
    this.#adopting.set(known.leaseId, adopting);
    try {
      return await adopting;
    } finally {
      this.#adopting.delete(known.leaseId);
    }
  }

  async #adopt(known: ProcessIdentity, folder: LeaseFolder): Promise<BrowserLease | null> {
    const { cdpUrl, gatePort, leaseId } = known;
    const signal = limitSignal(ADOPT_MS);
    if (!(await (cdpUrl === undefined ? answersAtPipe(folder, signal) : answersAt(cdpUrl, signal)))) return null;
    if (gatePort === undefined) return this.#hold(known, folder, this.#watchOf(known));
    this.#network.permit(leaseId, CLOSED);
    try {
      await this.#network.open(leaseId, { port: gatePort }, { kind: 'socks' });
    } catch (cause) {
      await this.#network.close(leaseId);
      this.#log(`The browser ${leaseId} cannot continue: its proxy's port ${gatePort} is taken (${sentenceOf(cause)})`);
      return null;
    }
    return this.#hold(known, folder, this.#watchOf(known));
  }

  async sweep(keep: { has(leaseId: string): boolean }): Promise<readonly string[]> {
    const removed = await reapLeases({
      found: await leasesUnder(this.#folder.path),
      // One that is being started belongs to a call that has not answered yet.
      isKept: (leaseId) => keep.has(leaseId) || this.#starting.has(leaseId),
      remove: (leaseId) => this.#remove(leaseId),
      log: this.#log,
    });
    await this.#tidy();
    return removed;
  }

  async #start(options: LeaseOptions, folder: LeaseFolder, signal: AbortSignal): Promise<ProcessLease> {
    const leave = await this.#gate.enter(signal);
    try {
      if (this.#folder.moved !== null) await openTemporaryFolder(this.#folder.path, this.#setting.user);
      const gatePort = await this.#network.open(options.leaseId, { port: null }, { kind: 'socks' });
      if (gatePort === undefined) throw new TroupeError('INTERNAL', 'A proxy was opened without a port');
      const { note, ended } = await startChromium(this.#setting, folder, { ...options, gatePort }, signal);
      const { product } = this.#setting.chromium;
      return this.#hold({ driver: 'process', ...note, folder: folder.path, gatePort, product }, folder, ended);
    } finally {
      leave();
    }
  }

  #hold(identity: ProcessIdentity, folder: LeaseFolder, ended: Promise<string>): ProcessLease {
    const { leaseId } = identity;
    const lease = new ProcessLease(identity, folder, {
      ended,
      permit: ({ forward = [], egress = {} }) => this.#network.permit(leaseId, { forward, egress }),
      gone: async () => {
        await this.#network.close(leaseId);
        this.#held.delete(leaseId);
        await this.#tidy();
      },
    });
    this.#held.set(leaseId, lease);
    this.#trimmer ??= setInterval(() => this.#trimLogs(), TRIM_LOGS_EVERY_MS).unref();
    return lease;
  }

  async #watchOf(identity: ProcessIdentity): Promise<string> {
    await this.#watch.ended(identity);
    return 'ended';
  }

  async #remove(leaseId: string): Promise<void> {
    const held = this.#held.get(leaseId);
    if (held !== undefined) return held.release();
    const folder = this.#leaseFolder(leaseId);
    await removeBrowser(folder, await folder.readNote());
  }

  /** Leaves nothing behind when there is no browser: no timer, and no folder in a place that is not ours. */
  async #tidy(): Promise<void> {
    if (this.#held.size > 0 || this.#starting.size > 0) return;
    if (this.#trimmer !== null) clearInterval(this.#trimmer);
    this.#trimmer = null;
    if (this.#folder.moved !== null) await closeTemporaryFolder(this.#folder.path);
  }

  #trimLogs(): void {
    for (const { folder } of this.#held.values()) {
      folder.trimLog().catch((cause: unknown) => this.#log(`A browser's log could not be cut: ${sentenceOf(cause)}`));
    }
  }

  #leaseFolder(leaseId: string): LeaseFolder {
    return new LeaseFolder(leaseFolderPath(this.#folder.path, leaseId));
  }
}

/** Whether every user can write enough to /dev/shm. */
async function hasSharedMemory(): Promise<boolean> {
  try {
    const [{ mode }, { bavail, bsize }] = await Promise.all([stat('/dev/shm'), statfs('/dev/shm')]);
    return (mode & 0o002) !== 0 && bavail * bsize >= ENOUGH_SHARED_MEMORY_BYTES;
  } catch {
    return false;
  }
}
