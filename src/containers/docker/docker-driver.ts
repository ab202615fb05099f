import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { ContainerCreateOptions } from 'dockerode';
import { z } from 'zod';
import { limitSignal, onAbort, pause, settlesWithin, stretched, unstretched } from '../../base/deadline.js';
import { asAbsent, sentenceOf } from '../../base/system-fault.js';
import { CLOSED } from '../../net-policy/egress.js';
import { TroupeError } from '../../protocol/errors.js';
import { type BrowserFolder, browserFolder, closeTemporaryFolder, openTemporaryFolder } from '../browser-folder.js';
import { answersAt, browserAtSocket, movedTo } from '../chromium/devtools-endpoint.js';
import type {
  BrowserKind,
  BrowserLease,
  Driver,
  LeaseIdentity,
  LeaseOptions,
  NetworkWish,
  StartBounds,
} from '../driver.js';
import type { NetworkGate } from '../gate/network-gate.js';
import { leaseFolderPath, leaseOfFolder } from '../lease-name.js';
import { reapLeases } from '../reap-leases.js';
import { withinBounds } from '../start-bounds.js';
import { StartGate } from '../start-gate.js';
import { type ContainerSetting, containerSpec, isOfWorker } from './container-spec.js';
import { ContainerWatch } from './container-watch.js';
import type { DockerEngine } from './docker-engine.js';
import { DockerIdentity, INSTANCE_LABEL, LEASE_LABEL } from './docker-identity.js';
import { DockerLease } from './docker-lease.js';
import { recordDesktop } from './docker-video.js';
import { refusedWith } from './engine-fault.js';
import { outputOf } from './engine-streams.js';
import { proxyPlace } from './worker-flags.js';
import { WorkerFolder } from './worker-folder.js';

/** A browser that does not answer in this time is not adopted. */
const ADOPT_MS = 10_000;
/** After a loss of the engine, a browser that does not answer in this time counts as lost, too. */
const ANSWER_MS = 2_000;
/** Of a listing that serves all adoptions of a start, and of the engine's call for it. */
const LISTING = { freshMs: 2_000, deadlineMs: 10_000 };
const PROBE_EVERY_MS = 20;
/** A start that failed waits so long for the removal of what it made, which then goes on by itself. */
const CLEAN_UP_MS = 1_000;
/** A whole removal, which may wait for another one of the same container. */
const REMOVAL_MS = 20_000;
const LOOK_AT_DOWNLOADS_EVERY_MS = 5_000;
const MEGABYTE = 1_048_576;

interface ListedContainer {
  readonly id: string;
  readonly leaseId: string;
}

const ContainerId = z.string().min(1);
const Listed = z.array(z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()) }));

/** What the driver is built from. */
export interface DockerDriverParts extends ContainerSetting {
  readonly engine: DockerEngine;
  readonly gate: NetworkGate;
  /** Where the workers' folders go; absolute. Where it makes paths of sockets too long, the temporary folder is used. */
  readonly workDir: string;
  /** A container may be paused this long until its session counts as lost, in milliseconds. */
  readonly maxPauseMs: number;
  readonly log?: ((message: string) => void) | undefined;
}

/**
 * Browsers in containers of the Docker engine of this machine: one container a lease, without a network, reached through
 * unix sockets in a folder of its own. They outlive the service and are found again by their labels.
 */
export class DockerDriver implements Driver {
  readonly name = 'docker';
  readonly offers: Driver['offers'] = new Set(['desktop', 'filteredBypass']);
  readonly #parts: DockerDriverParts;
  readonly #folder: BrowserFolder;
  readonly #log: (message: string) => void;
  readonly #places = new StartGate(Math.max(2, availableParallelism()));
  readonly #watch: ContainerWatch;
  readonly #starting = new Set<string>();
  readonly #held = new Map<string, DockerLease>();
  #looker: NodeJS.Timeout | null = null;
  #browser: BrowserKind | null = null;
  #listing: { readonly atMs: number; readonly containers: Promise<readonly ListedContainer[]> } | null = null;

  private constructor(parts: DockerDriverParts, folder: BrowserFolder) {
    this.#parts = parts;
    this.#folder = folder;
    this.#log = parts.log ?? (() => undefined);
    this.#watch = new ContainerWatch(parts.engine, parts.instance);
  }

  /** @throws UNAVAILABLE when no folder will do */
  static async create(parts: DockerDriverParts): Promise<DockerDriver> {
    const folder = await browserFolder(parts.workDir, { instance: parts.instance, driver: 'docker' }, null);
    return new DockerDriver(parts, folder);
  }

  get browser(): BrowserKind | null {
    return this.#browser;
  }

  async lease(options: LeaseOptions, bounds: StartBounds): Promise<BrowserLease> {
    const { leaseId } = options;
    const folder = this.#leaseFolder(leaseId);
    if (this.#starting.has(leaseId) || this.#held.has(leaseId)) {
      throw new TroupeError('INTERNAL', `Lease ${leaseId} has a browser already`);
    }
    this.#starting.add(leaseId);
    let removal: Promise<void> = Promise.resolve();
    const work = async (signal: AbortSignal): Promise<BrowserLease> => {
      const leave = await this.#places.enter(signal);
      try {
        return await this.#start(options, folder, signal, (removed) => {
          removal = removed;
        });
      } finally {
        leave();
      }
    };
    try {
      return await withinBounds(bounds, work, CLEAN_UP_MS);
    } finally {
      // Until then no sweep meddles, and nobody starts another one in the same place.
      const over = removal
        .catch((cause: unknown) => this.#log(`The remains of ${leaseId} are removed later: ${sentenceOf(cause)}`))
        .then(() => this.#starting.delete(leaseId))
        .then(() => this.#tidy());
      await settlesWithin(over, CLEAN_UP_MS / 2);
    }
  }

  async adopt(identity: LeaseIdentity): Promise<BrowserLease | null> {
    const parsed = DockerIdentity.safeParse(identity);
    if (!parsed.success) return null;
    const known = parsed.data;
    const held = this.#held.get(known.leaseId);
    if (held !== undefined) return held;
    if (known.folder !== this.#leaseFolder(known.leaseId).path) return null;
    const listed = await this.#lately();
    if (!listed.some(({ id, leaseId }) => id === known.containerId && leaseId === known.leaseId)) return null;
    try {
      return await this.#takeUp(known);
    } catch (cause) {
      // One container that a page took over must not keep a service from starting.
      this.#log(`The container of ${known.leaseId} is not taken up again: ${sentenceOf(cause)}`);
      return null;
    }
  }

  async #takeUp(known: DockerIdentity): Promise<DockerLease | null> {
    const { leaseId } = known;
    const folder = this.#leaseFolder(leaseId);
    // An earlier version connected to the socket where the container had made it.
    const cdpUrl = movedTo(folder.socket('cdp'), known.cdpUrl);
    if (cdpUrl === null || !(await this.#takeSockets(folder))) return null;
    if (!(await answersAt(cdpUrl, limitSignal(ADOPT_MS)))) return null;
    const lease = this.#held.get(leaseId) ?? this.#hold({ ...known, cdpUrl });
    this.#parts.gate.permit(leaseId, CLOSED);
    try {
      await this.#openWays(leaseId, known.proxy);
    } catch (cause) {
      await lease.release();
      throw cause;
    }
    return lease;
  }

  /** One that is given up has a moment more to say what it made. */
  async #created(name: string, spec: ContainerCreateOptions, signal: AbortSignal): Promise<string> {
    const cut = new AbortController();
    const forget = onAbort(signal, () =>
      setTimeout(() => cut.abort(signal.reason), stretched(CLEAN_UP_MS / 2)).unref(),
    );
    try {
      const docker = await this.#parts.engine.docker({ signal: cut.signal });
      // Without `_query`, dockerode writes all of it into the address too.
      const order: ContainerCreateOptions & { _query: object; _body: object } = { _query: { name }, _body: spec };
      return ContainerId.parse((await docker.createContainer(order)).id);
    } finally {
      forget();
    }
  }

  #takeSockets(folder: WorkerFolder): Promise<boolean> {
    return folder.takeSockets((uid) => isOfWorker(this.#parts, uid));
  }

  /** The worker's ways out: to the gate, and to its session's proxy where it has one. */
  async #openWays(leaseId: string, proxy: string | undefined): Promise<void> {
    const { gate } = this.#parts;
    const folder = this.#leaseFolder(leaseId);
    await gate.open(leaseId, await folder.socketPlace('net'), { kind: 'socks' });
    if (proxy === undefined) return;
    await gate.open(leaseId, await folder.socketPlace('proxy'), { kind: 'fixed', ...proxyPlace(proxy) });
  }

  async sweep(keep: { has(leaseId: string): boolean }): Promise<readonly string[]> {
    const names = (await readdir(this.#folder.path).catch(asAbsent)) ?? [];
    const containers = await this.#containers();
    const removed = await reapLeases({
      found: [...names.flatMap((name) => leaseOfFolder(name) ?? []), ...containers.map(({ leaseId }) => leaseId)],
      isKept: (leaseId) => keep.has(leaseId) || this.#starting.has(leaseId),
      remove: (leaseId) => {
        const held = this.#held.get(leaseId);
        const container = containers.find((one) => one.leaseId === leaseId);
        return held === undefined ? this.#remove(leaseId, container?.id ?? null) : held.release();
      },
      log: this.#log,
    });
    await this.#tidy();
    return removed;
  }

  /** @param onFailed given the removal of what a start made that fails */
  async #start(
    options: LeaseOptions,
    folder: WorkerFolder,
    signal: AbortSignal,
    onFailed: (removal: Promise<void>) => void,
  ): Promise<DockerLease> {
    const { engine, instance } = this.#parts;
    const { leaseId, proxy } = options;
    let containerId: string | null = null;
    let unwatch = (): void => undefined;
    // Ends every wait below: the caller's signal, or the container's own end.
    const died = new AbortController();
    const cut = AbortSignal.any([signal, died.signal]);
    try {
      // A proxy that this driver cannot take is refused before anything is made for it.
      if (proxy !== undefined) proxyPlace(proxy.server);
      if (this.#folder.moved !== null) await openTemporaryFolder(this.#folder.path, null);
      await folder.create();
      await this.#openWays(leaseId, proxy?.server);
      signal.throwIfAborted();
      const name = `troupe-${instance}-${leaseId}`;
      // Until its id is known it has its name: an engine that does not answer may make it all the same.
      containerId = name;
      containerId = await this.#created(name, containerSpec(this.#parts, options, folder), signal);
      unwatch = this.#watch.watch(containerId, (event) => {
        if (event.type === 'die' || event.type === 'lost') died.abort(event);
      });
      signal.throwIfAborted();
      await (await engine.docker({ signal: cut })).getContainer(containerId).start();
      const browser = await this.#ready(folder, cut);
      const asked = proxy === undefined ? {} : { proxy: proxy.server };
      unwatch();
      return this.#hold({ driver: 'docker', leaseId, containerId, folder: folder.path, ...browser, ...asked });
    } catch (cause) {
      unwatch();
      // What it made is removed, whether or not its words can be read.
      const said = died.signal.aborted && containerId !== null ? this.#exitOutput(containerId) : null;
      const words = (await said?.catch(() => '')) ?? '';
      onFailed(this.#remove(leaseId, containerId));
      signal.throwIfAborted();
      if (!died.signal.aborted) throw cause;
      const why = words === '' ? '' : `: ${words}`;
      throw new TroupeError('UNAVAILABLE', `The container ended before its browser could be used${why}`);
    }
  }

  async #ready(folder: WorkerFolder, signal: AbortSignal): Promise<{ cdpUrl: string; product: string }> {
    // Before anything connects to them.
    while (!(await this.#takeSockets(folder))) await pause(PROBE_EVERY_MS, { signal });
    for (;;) {
      try {
        return await browserAtSocket(folder.socket('cdp'), signal);
      } catch {
        await pause(PROBE_EVERY_MS, { signal });
      }
    }
  }

  #hold(identity: DockerIdentity): DockerLease {
    const { gate, limits, maxPauseMs } = this.#parts;
    const { leaseId, containerId, cdpUrl } = identity;
    this.#browser = { product: identity.product, form: 'display' };
    let unwatch = (): void => undefined;
    const lease = new DockerLease(identity, {
      permit: ({ forward = [], egress = {} }: NetworkWish) => gate.permit(leaseId, { forward, egress }),
      recordVideo: (signal) => recordDesktop(this.#parts.engine, containerId, signal),
      remove: async () => {
        unwatch();
        await this.#remove(leaseId, containerId);
        this.#held.delete(leaseId);
        await this.#tidy();
      },
      exitOutput: () => this.#exitOutput(containerId),
      answers: () => answersAt(cdpUrl, limitSignal(ANSWER_MS)),
      memoryMb: limits.memoryMb,
      maxPauseMs,
    });
    unwatch = this.#watch.watch(containerId, (event) => void lease.observe(event));
    this.#held.set(leaseId, lease);
    this.#looker ??= setInterval(() => this.#lookAtDownloads(), LOOK_AT_DOWNLOADS_EVERY_MS).unref();
    return lease;
  }

  /** Container first: what wrote to the folder must be gone before the folder goes. */
  async #remove(leaseId: string, containerId: string | null): Promise<void> {
    const { engine, gate } = this.#parts;
    const end = performance.now() + stretched(Math.min(REMOVAL_MS, engine.deadlineMs));
    while (containerId !== null) {
      const docker = await engine.docker({ deadlineMs: Math.max(unstretched(end - performance.now()), 1) });
      const removal = docker.getContainer(containerId).remove({ force: true, v: true });
      // 409: another removal of the same container is under way.
      if ((await removal.catch(refusedWith(404, 409))) !== 409) break;
      if (performance.now() > end) throw new TroupeError('UNAVAILABLE', `Container ${containerId} cannot be removed`);
      await pause(PROBE_EVERY_MS);
    }
    await gate.close(leaseId);
    await this.#leaseFolder(leaseId).remove();
  }

  /** What has ended since then is noticed all the same: its browser does not answer. */
  #lately(): Promise<readonly ListedContainer[]> {
    const now = performance.now();
    if (this.#listing === null || now - this.#listing.atMs > LISTING.freshMs) {
      const containers = this.#containers(LISTING.deadlineMs);
      this.#listing = { atMs: now, containers };
      containers.catch(() => {
        this.#listing = null;
      });
    }
    return this.#listing.containers;
  }

  async #containers(deadlineMs?: number): Promise<readonly ListedContainer[]> {
    const docker = await this.#parts.engine.docker({ deadlineMs });
    const filters = { label: [`${INSTANCE_LABEL}=${this.#parts.instance}`] };
    const listed = Listed.parse(await docker.listContainers({ all: true, filters }));
    return listed.flatMap(({ Id, Labels }) => {
      const leaseId = Labels[LEASE_LABEL];
      return leaseId === undefined ? [] : [{ id: Id, leaseId }];
    });
  }

  async #exitOutput(containerId: string): Promise<string> {
    const docker = await this.#parts.engine.docker({ deadlineMs: 500 });
    const logs = docker.getContainer(containerId).logs({ stdout: true, stderr: true, tail: 8, follow: false });
    const log = await logs.catch(refusedWith(404, 409));
    return Buffer.isBuffer(log) ? wordsOf(log) : '';
  }

  /** Leaves nothing behind when there is no container: no timer, and no folder in a place that is not ours. */
  async #tidy(): Promise<void> {
    if (this.#held.size > 0 || this.#starting.size > 0) return;
    if (this.#looker !== null) clearInterval(this.#looker);
    this.#looker = null;
    if (this.#folder.moved !== null) await closeTemporaryFolder(this.#folder.path);
  }

  #lookAtDownloads(): void {
    const maxBytes = this.#parts.limits.downloadsMb * MEGABYTE;
    for (const { folder } of this.#held.values()) {
      folder.closeWhenOver(maxBytes).catch((cause: unknown) => this.#log(`Downloads: ${sentenceOf(cause)}`));
    }
  }

  #leaseFolder(leaseId: string): WorkerFolder {
    return new WorkerFolder(leaseFolderPath(this.#folder.path, leaseId));
  }
}

/** The text of a container's log. */
async function wordsOf(log: Buffer): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const { bytes } of outputOf([log])) pieces.push(bytes);
  return Buffer.concat(pieces).toString('utf8').trim();
}
