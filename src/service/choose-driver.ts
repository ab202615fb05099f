import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sentenceOf } from '../base/system-fault.js';
import type { Config } from '../config.js';
import { findChromium } from '../containers/chromium/chromium-binary.js';
import { isPodman } from '../containers/docker/api-version.js';
import { DockerDriver } from '../containers/docker/docker-driver.js';
import { DockerEngine } from '../containers/docker/docker-engine.js';
import { refusedWith } from '../containers/docker/engine-fault.js';
import { findImage, WORKER_SOURCES, type WorkerImage, workerImageName } from '../containers/docker/worker-image.js';
import type { Driver } from '../containers/driver.js';
import { NetworkGate } from '../containers/gate/network-gate.js';
import { removeLeftoverContainers, removeLeftoverProcesses } from '../containers/orphans.js';
import { ProcessDriver } from '../containers/process/process-driver.js';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import { counted } from '../protocol/counted.js';
import { TroupeError } from '../protocol/errors.js';
import { typedCommand } from '../terminal/typed-command.js';

/** The driver of a service's browsers. */
export interface DriverChoice {
  readonly driver: Driver;
  /** For the log: the driver, its browser or engine, and why it was chosen. */
  readonly description: string;
}

interface DriverDependencies {
  readonly config: Config;
  /** Distinguishes this installation from others on the machine. */
  readonly instance: string;
  /** The port that the service listens on; browsers cannot reach it. */
  readonly ownPort: number;
  readonly closedPorts: ClosedPorts;
  readonly log: (line: string) => void;
}

const SECCOMP_FILE = join(WORKER_SOURCES, 'seccomp.json');
const Info = z.object({
  SecurityOptions: z.array(z.string()).nullish(),
  MemoryLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
});

interface UsableDocker {
  readonly engine: DockerEngine;
  readonly version: string;
  readonly image: WorkerImage;
  readonly info: Pick<z.infer<typeof Info>, 'SecurityOptions'>;
}

/** A container that is paused for longer than a script's time limit plus this is given up. */
const PAUSE_GRACE_MS = 5_000;
/** Each call of an engine that is not used itself: one that stalls must not keep the service from starting. */
const LEFTOVERS_MS = 10_000;

/**
 * Chooses the configured driver. `auto` chooses Docker if an engine answers and has the worker image, otherwise
 * processes
 * on this machine.
 * @throws UNAVAILABLE with the remedy if the configured driver cannot be used; INVALID_REQUEST if a setting needs
 * another
 */
export async function chooseDriver(dependencies: DriverDependencies): Promise<DriverChoice> {
  const { config } = dependencies;
  if (config.driver === 'process') return processChoice(dependencies, 'as configured');
  const docker = await usableDocker(config);
  if (!('why' in docker)) {
    const why = config.driver === 'docker' ? 'as configured' : 'a Docker engine answers and has the worker image';
    return dockerChoice(dependencies, docker, why);
  }
  if (config.driver === 'docker') {
    throw new TroupeError('UNAVAILABLE', `The docker driver cannot be used: ${docker.why}; ${docker.remedy}`);
  }
  return processChoice(dependencies, `Docker is not used: ${docker.why}`);
}

/** The engine and the image, or what is missing and how to fix it. */
export async function usableDocker(
  config: Pick<Config, 'dockerSocket' | 'worker'>,
): Promise<UsableDocker | { readonly why: string; readonly remedy: string }> {
  if (config.dockerSocket === null) {
    return { why: 'DOCKER_HOST names an engine of another machine', remedy: 'set it to a unix:// socket of this one' };
  }
  const engine = new DockerEngine(config.dockerSocket);
  const answer = await engine.version();
  if ('why' in answer) return { why: answer.why, remedy: 'start Docker, or use --driver process' };
  const name = config.worker.image ?? (await workerImageName());
  try {
    const image = await findImage(engine, name);
    if (image === null) return { why: `the image ${name} is not there`, remedy: `run ${typedCommand()} setup` };
    const { SecurityOptions, ...can } = Info.parse(await (await engine.docker()).info());
    const lacking = Object.entries(can).flatMap(([limit, enforced]) => (enforced === false ? [limit] : []));
    if (lacking.length === 0) return { engine, version: answer.version, image, info: { SecurityOptions } };
    const remedy = 'delegate the cgroup controllers cpu, memory and pids to its user, see docs/containers.md';
    return { why: `the Docker engine cannot limit what containers use (${lacking.join(', ')})`, remedy };
  } catch (error) {
    return { why: sentenceOf(error), remedy: 'restart Docker, or use --driver process' };
  }
}

async function dockerChoice(
  { config, instance, ownPort, closedPorts, log }: DriverDependencies,
  { engine, version, image, info }: UsableDocker,
  why: string,
): Promise<DriverChoice> {
  const { worker, tmpDir, evalTimeout } = config;
  const removed = await removeLeftoverProcesses({ workDir: `${tmpDir}/browsers`, instance });
  if (removed > 0) log(`removed ${counted(removed, 'browser')} without containers of an earlier run`);
  const secures = (how: string) => info.SecurityOptions?.some((option) => option.startsWith(`name=${how}`)) ?? false;
  const setting = {
    ownPort,
    closedPorts: closedPorts.shared,
    ownNames: ownNames(config),
    hostAddress: await bridgeAddress(engine),
    forward: config.forward,
    egress: config.egress ?? {},
    loopback: 'forwarded' as const,
  };
  const gate = new NetworkGate(setting, log);
  closedPorts.watch(() => gate.recheck());
  const driver = await DockerDriver.create({
    engine,
    gate,
    instance,
    log,
    imageId: image.id,
    workDir: `${tmpDir}/containers`,
    seccomp: isPodman(await engine.release()) ? SECCOMP_FILE : await readFile(SECCOMP_FILE, 'utf8'),
    labelsFiles: secures('selinux'),
    remapsUsers: secures('userns') || secures('rootless'),
    maxPauseMs: evalTimeout * 1000 + PAUSE_GRACE_MS,
    limits: {
      memoryMb: worker.memory,
      pids: worker.pids,
      cpus: worker.cpus,
      downloadsMb: worker.downloads,
      scale: worker.scale,
    },
  });
  return {
    driver,
    description: `docker driver (${why}): engine ${version}, image ${image.name}`,
  };
}

const Bridge = z.object({
  IPAM: z.object({
    Config: z.array(z.object({ Subnet: z.string().optional(), Gateway: z.string().optional() })).nullish(),
  }),
});

/**
 * The address at which containers of this engine reach its host; null if it has no bridge network. An engine that has
 * not
 * run a container on its bridge yet reports only the subnet, of which it uses the first address.
 */
export async function bridgeAddress(engine: DockerEngine): Promise<string | null> {
  const docker = await engine.docker();
  const network: unknown = await docker.getNetwork('bridge').inspect().catch(refusedWith(404));
  if (network === 404) return null;
  const [{ Gateway, Subnet } = {}] = Bridge.parse(network).IPAM.Config ?? [];
  return Gateway ?? Subnet?.replace(/\.\d+\/\d+$/, '.1') ?? null;
}

/** The service's host names, without names that every machine has for itself. */
function ownNames({ publicUrl, allowedHosts }: Config): readonly string[] {
  const hosts = [...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]), ...allowedHosts];
  return hosts.map((host) => host.toLowerCase().replace(/:\d+$/, ''));
}

/** @throws INVALID_REQUEST if the configuration requires something of all sessions that this driver cannot do */
async function processChoice(
  { config, instance, ownPort, closedPorts, log }: DriverDependencies,
  why: string,
): Promise<DriverChoice> {
  if (config.dockerSocket !== null) {
    const where = { workDir: `${config.tmpDir}/containers`, instance };
    const removal = removeLeftoverContainers(new DockerEngine(config.dockerSocket, LEFTOVERS_MS), where);
    const removed = await removal.catch((error: unknown) => {
      log(`Containers of an earlier service may be left: ${sentenceOf(error)}`);
      return 0;
    });
    if (removed > 0) log(`removed ${counted(removed, 'container')} that an earlier service left`);
  }
  const { chromium: configured, chromiumSandbox: sandbox, sudoUser: user, tmpDir, home } = config;
  const chromium = await findChromium({ configured, user, cacheDir: `${tmpDir}/chromium` });
  const setting = {
    ownPort,
    closedPorts: closedPorts.shared,
    ownNames: ownNames(config),
    hostAddress: null,
    forward: config.forward,
    egress: config.egress ?? {},
    loopback: 'open',
  } as const;
  const network = new NetworkGate(setting, log);
  closedPorts.watch(() => network.recheck());
  const driver = await ProcessDriver.create({
    chromium,
    sandbox,
    network,
    ownPort,
    home,
    user,
    workDir: `${tmpDir}/browsers`,
    instance,
    log,
  });
  if (driver.confinement === 'none') log(UNCONFINED);
  const browser = `${chromium.product} (${chromium.source}: ${chromium.path})`;
  const kept = driver.confinement === 'none' ? '' : `, confined by ${driver.confinement}`;
  const open = sandbox ? '' : ", without Chromium's sandbox";
  return { driver, description: `process driver with ${browser}${kept}${open}; ${why}` };
}

const UNCONFINED =
  'Warning: neither Landlock (kernel 5.13, perl) nor bubblewrap can be used here, so browsers can read the files of the ' +
  'user that they run as: with this driver, the role "run" is equivalent to a shell of that user. Install bubblewrap, ' +
  'run the service as root, or use --driver docker';
