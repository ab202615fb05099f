import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import type { Teardown } from '../support/service.js';
import { type RunningCommand, run, startCommand } from './command.js';

/** A machine with a Docker engine of its own, as far as its containers can tell. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Its disk at /var/lib/troupe. */
  readonly home: string;
  /** Runs the Docker command line on its engine and returns what it printed. */
  docker(...words: readonly string[]): Promise<string>;
  /** As {@link Machine.docker}, with what the command reads and its environment. */
  dockerWith(
    options: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
    ...words: string[]
  ): Promise<string>;
  /** Cuts its power: the engine and all its containers end at once. */
  kill(): Promise<void>;
}

/** Machines on a network of their own, which no packet leaves. */
export interface Machines {
  readonly all: readonly Machine[];
  /** The address at which machines reach what {@link Machines.inside} starts. */
  readonly address: string;
  /** Starts a command on their network. */
  inside(command: readonly string[], env?: NodeJS.ProcessEnv): RunningCommand;
}

const NETWORK = '10.77.0';
const START_MS = 120_000;

/** What an engine of a test needs. */
export const ENGINE_PROGRAMS = ['dockerd', 'docker', 'ip', 'nsenter', 'unshare', 'hostname'] as const;

/**
 * Starts engines in namespaces: each has a network, mounts, processes, and a host name of its own, and all end with the first
 * process of their namespace, whatever becomes of them. Wants root.
 */
export async function makeMachines(t: Teardown, count: number): Promise<Machines> {
  const root = mkdtempSync(join(tmpdir(), 'm-'));
  const group = `troupe-swarm-${randomBytes(4).toString('hex')}`;
  t.teardown(() => rmSync(root, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 }));
  t.teardown(() => removeGroups('/sys/fs/cgroup', group));
  const wire = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
  t.teardown(() => end(wire));
  await eventually('the network is there', () => namespaceOf(wire.pid) !== namespaceOf(process.pid));
  const inNetwork = ['nsenter', `--net=/proc/${wire.pid}/ns/net`, '--'];
  const ip = (words: string) => run([...inNetwork, 'ip', ...words.split(' ')]);
  await ip('link set lo up');
  await ip('link add troupe type bridge');
  await ip(`addr add ${NETWORK}.1/24 dev troupe`);
  await ip('link set troupe up');
  const all: Machine[] = [];
  for (let index = 1; index <= count; index += 1) {
    const name = `machine-${index}`;
    const place = { name, address: `${NETWORK}.${10 + index}`, folder: join(root, name), group };
    const { plug, child, machine } = powerOn(place);
    t.teardown(() => end(child));
    await eventually(`${name} has a network`, () => namespaceOf(child.pid) !== namespaceOf(process.pid));
    await ip(`link add port${index} type veth peer name eth0 netns ${child.pid}`);
    await ip(`link set port${index} master troupe up`);
    plug();
    all.push(machine);
  }
  await Promise.all(
    all.map(({ name, docker }) =>
      eventually(
        `the engine of ${name} answers`,
        () =>
          docker('version').then(
            () => true,
            () => false,
          ),
        START_MS,
      ),
    ),
  );
  return {
    all,
    address: `${NETWORK}.1`,
    inside: (command, env = process.env) => startCommand([...inNetwork, ...command], { env }),
  };
}

function powerOn(place: { name: string; address: string; folder: string; group: string }) {
  const { name, address, folder, group } = place;
  const [home, socket] = [join(folder, 'home'), join(folder, 'docker.sock')];
  mkdirSync(home, { recursive: true });
  const script = `
    hostname ${name}
    mount -t tmpfs tmpfs /run && mkdir /run/docker
    mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/troupe && mount --bind ${home} /var/lib/troupe
    read plugged
    ip link set lo up && ip addr add ${address}/24 dev eth0 && ip link set eth0 up && ip route add default via ${NETWORK}.1
    dockerd --host unix://${socket} --host unix:///run/docker.sock --data-root ${folder}/data --exec-root /run/docker \\
      --pidfile /run/docker.pid --cgroup-parent /${group} --log-level warn &
    wait`;
  const own = ['--net', '--mount', '--uts', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
  const child = spawn('unshare', [...own, 'sh', '-ec', script], { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stderr.pipe(createWriteStream(join(folder, 'log')));
  const command = ['docker', '--host', `unix://${socket}`];
  const machine: Machine = {
    name,
    address,
    home,
    docker: (...words) => run([...command, ...words]),
    dockerWith: (options, ...words) => run([...command, ...words], options),
    kill: () => end(child),
  };
  return { machine, child, plug: () => child.stdin.end('plugged\n') };
}

/** Idempotent. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function namespaceOf(pid: number | undefined): string {
  return readlinkSync(`/proc/${pid}/ns/net`);
}

/** Control groups outlive the engines that made them; empty ones are removed like folders. */
async function removeGroups(folder: string, name: string): Promise<void> {
  const found = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const groups = found.some((entry) => entry.name === name)
    ? [join(folder, name)]
    : found.map((entry) => join(folder, entry.name, name));
  await eventually('the control groups are gone', () => groups.every(removeGroup));
}

function removeGroup(group: string): boolean {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) removeGroup(join(group, entry.name));
    rmdirSync(group);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
  return true;
}
