import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '#troupe/config.js';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { eventually } from '../support/eventually.js';
import type { Teardown } from '../support/service.js';
import { ownFolder, run } from './command.js';
import type { Machine } from './machines.js';

const ROOT = dirname(WORKER_SOURCES.replace(/\/$/, ''));
const PARTS = join(ROOT, 'test/swarm/parts');
const BASE = 'troupe-base:bookworm';
/** Nobody listens there, so an engine takes the image that it has. */
const REGISTRY = '127.0.0.1:9';
const START_MS = 60_000;

/** What deploy/stack.yml takes for its images. `troupe` and `next` are the same service under two names. */
export const IMAGES = {
  troupe: `${REGISTRY}/troupe:one`,
  next: `${REGISTRY}/troupe:two`,
  worker: `${REGISTRY}/troupe-worker`,
  haproxy: `${REGISTRY}/haproxy`,
  postgres: `${REGISTRY}/postgres`,
} as const;

/** What building the images takes, beside an engine. */
export const BUILD_PROGRAMS = ['debootstrap', 'npm'] as const;

/**
 * Builds the images of the stack from this checkout and Debian's packages, and gives them to all machines. Layers are kept in
 * the cache folder for the next time.
 */
export async function giveImages(t: Teardown, machines: readonly Machine[]): Promise<void> {
  const builder = await startBuilder(t);
  await buildAll(builder, ownFolder(t));
  const file = join(ownFolder(t), 'images.tar');
  await builder.docker('save', '--output', file, ...Object.values(IMAGES));
  for (const machine of machines) await machine.docker('load', '--quiet', '--input', file);
  await builder.stop();
}

async function buildAll({ docker }: Builder, parent: string): Promise<void> {
  const build = (image: string, folder: string, ...words: string[]) =>
    docker('build', '--quiet', '--network', 'host', '--tag', image, ...words, folder);
  if ((await docker('images', '--quiet', BASE)) === '') {
    const file = join(cacheFolder(), `base-bookworm-${process.arch}.tar`);
    mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file)) await run([join(WORKER_SOURCES, 'debootstrap-base'), file]);
    await docker('import', file, BASE);
  }
  await build(IMAGES.postgres, PARTS);
  await docker('tag', IMAGES.postgres, IMAGES.haproxy);
  await build(IMAGES.worker, WORKER_SOURCES, '--build-arg', `BASE=${BASE}`);
  await build(
    'troupe-node',
    await nodeContext(parent),
    '--build-arg',
    `REGISTRY=${await run(['npm', 'config', 'get', 'registry'])}`,
  );
  const service = ['--file', join(ROOT, 'deploy/Dockerfile'), '--build-arg', 'NODE=troupe-node'];
  await build(IMAGES.troupe, ROOT, ...service);
  await docker('tag', IMAGES.troupe, IMAGES.next);
}

/** A folder with this machine's Node and npm, and the certificates that it trusts. */
async function nodeContext(parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'n-'));
  const npm = realpathSync(await run(['which', 'npm']));
  cpSync(realpathSync(process.execPath), join(folder, 'node'), { preserveTimestamps: true });
  cpSync(dirname(dirname(npm)), join(folder, 'npm'), { recursive: true, dereference: true, preserveTimestamps: true });
  const trusted = process.env.NODE_EXTRA_CA_CERTS;
  writeFileSync(join(folder, 'certificates.crt'), trusted === undefined ? '' : readFileSync(trusted));
  cpSync(join(PARTS, 'node.Dockerfile'), join(folder, 'Dockerfile'));
  return folder;
}

interface Builder {
  docker(...words: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** An engine on this machine's network, for builds alone: it has no bridge, and leaves the rules of the network alone. */
async function startBuilder(t: Teardown): Promise<Builder> {
  const folder = ownFolder(t);
  const data = join(cacheFolder(), 'swarm-builder');
  mkdirSync(data, { recursive: true });
  const socket = join(folder, 'docker.sock');
  const words = ['--host', `unix://${socket}`, '--data-root', data, '--exec-root', `${folder}/run`];
  const more = ['--pidfile', `${folder}/pid`, '--bridge', 'none', '--iptables=false', '--log-level', 'error'];
  // What it mounts goes with its namespace.
  const child = spawn('unshare', ['--mount', 'dockerd', ...words, ...more], { stdio: 'ignore' });
  const stop = () => endGently(child);
  t.teardown(stop);
  const docker = (...command: readonly string[]) =>
    run(['docker', '--host', `unix://${socket}`, ...command], { env: { ...process.env, DOCKER_BUILDKIT: '0' } });
  await eventually(
    'the builder answers',
    () =>
      docker('version').then(
        () => true,
        () => false,
      ),
    START_MS,
  );
  return { docker, stop };
}

/** Idempotent. */
async function endGently(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
