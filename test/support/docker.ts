import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { z } from 'zod';
import { readConfig } from '#troupe/config.js';
import type { ContainerSetting, WorkerLimits } from '#troupe/containers/docker/container-spec.js';
import { DockerDriver } from '#troupe/containers/docker/docker-driver.js';
import type { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { usableDocker } from '#troupe/service/choose-driver.js';
import { openFolder } from '../containers/driver-fixture.js';
import { NO_RULES } from './egress-setting.js';
import { eventually } from './eventually.js';

const config = readConfig({}, { ...process.env, TROUPE_HOME: '/nonexistent' });
/** An engine that is there and busy may answer late. */
const LATE_ANSWERS = 10;
let found = await usableDocker(config);
for (let late = 0; 'why' in found && found.why.includes('no answer within') && late < LATE_ANSWERS; late += 1) {
  found = await usableDocker(config);
}

/** For tap's `skip`: why Docker cannot be used here, or false. */
export const skipWithoutDocker: string | false = 'why' in found ? `Docker: ${found.why}; ${found.remedy}` : false;

const Container = z.object({ Id: z.string(), State: z.string(), Labels: z.record(z.string(), z.string()) });

/** The engine's containers that a label names, running or not. */
export async function containersOf(
  label: string,
  engine: DockerEngine = engineInUse(),
): Promise<readonly z.infer<typeof Container>[]> {
  const docker = await engine.docker();
  return z.array(Container).parse(await docker.listContainers({ all: true, filters: { label: [label] } }));
}

/** The container of a live session, by its label; '' when there is none. */
export async function containerOf(sessionId: string): Promise<string> {
  return (await containersOf(`troupe.lease=${sessionId}`))[0]?.Id ?? '';
}

/** The engine's containers that have a folder under this one mounted. */
export async function containersUnder(folder: string): Promise<readonly string[]> {
  const shape = z.array(z.object({ Id: z.string(), Mounts: z.array(z.object({ Source: z.string().optional() })) }));
  const listed = shape.parse(await (await engineInUse().docker()).listContainers({ all: true }));
  return listed.flatMap(({ Id, Mounts }) =>
    Mounts.some(({ Source }) => Source?.startsWith(`${folder}/`)) ? [Id] : [],
  );
}

/** The engine that tests run on. Only where {@link skipWithoutDocker} is false. */
export function engineInUse(): DockerEngine {
  if ('why' in found) throw new Error(found.why);
  return found.engine;
}

/** Has the engine do something to a container: `kill`, `pause` ... */
export async function docker(action: 'kill' | 'pause' | 'unpause', containerId: string): Promise<void> {
  await (await engineInUse().docker()).getContainer(containerId)[action]();
}

export interface DockerFixture {
  readonly driver: DockerDriver;
  readonly engine: DockerEngine;
  readonly instance: string;
  /** Where its containers' folders go. */
  readonly workDir: string;
  /** What its containers are made from. */
  readonly setting: ContainerSetting;
  /** What its drivers had to say. */
  readonly said: string[];
  /** A further driver of the same installation, as a service that is started later has it; of another image. */
  another(imageId?: string): Promise<DockerDriver>;
  /** Ids of the installation's containers, running or not. */
  containers(): Promise<readonly string[]>;
}

const LIMITS: WorkerLimits = { memoryMb: 1024, pids: 400, cpus: 2, downloadsMb: 64, scale: 1 };

/** A driver of an installation of its own. Whatever the test did, nothing of it is left at the end. */
export async function dockerFixture(t: Test, limits: Partial<WorkerLimits> = {}): Promise<DockerFixture> {
  if ('why' in found) throw new Error(found.why);
  const { engine, image } = found;
  const instance = randomBytes(6).toString('hex');
  const workDir = join(openFolder(t), 'w');
  const setting: ContainerSetting = {
    instance,
    imageId: image.id,
    seccomp: readFileSync(join(WORKER_SOURCES, 'seccomp.json'), 'utf8'),
    labelsFiles: false,
    remapsUsers: false,
    limits: { ...LIMITS, ...limits },
  };
  const said: string[] = [];
  const another = (imageId = image.id): Promise<DockerDriver> => {
    const gate = new NetworkGate(NO_RULES, (line) => t.comment(line));
    const log = (line: string): void => void said.push(line);
    return DockerDriver.create({ ...setting, imageId, engine, workDir, gate, maxPauseMs: 1_000, log });
  };
  const driver = await another();
  const containers = async () => (await containersOf(`troupe.instance=${instance}`)).map(({ Id }) => Id);
  t.teardown(async () => {
    await eventually('no container is left', async () => {
      await driver.sweep(new Set());
      return (await containers()).length === 0;
    });
  });
  return { driver, engine, instance, workDir, setting, said, another, containers };
}

/** What a command inside a container prints, and its exit code. */
export async function runInside(
  containerId: unknown,
  command: string,
  user = '1000:1000',
): Promise<{ readonly code: number; readonly text: string }> {
  const docker = await engineInUse().docker();
  const order = { Cmd: ['sh', '-c', command], User: user, Tty: true, AttachStdout: true, AttachStderr: true };
  const exec = await docker.getContainer(String(containerId)).exec(order);
  const said = await text(await exec.start({ Detach: false, Tty: true }));
  const { ExitCode } = await exec.inspect();
  return { code: ExitCode ?? -1, text: said.replaceAll('\r\n', '\n').trim() };
}
