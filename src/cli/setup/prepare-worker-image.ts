import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { limitSignal } from '../../base/deadline.js';
import { linesOf } from '../../base/lines.js';
import type { Config } from '../../config.js';
import { DockerEngine } from '../../containers/docker/docker-engine.js';
import {
  buildImage,
  findImage,
  importImage,
  type OnProgress,
  pullImage,
  WORKER_SOURCES,
  workerImageName,
} from '../../containers/docker/worker-image.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { showProgress } from '../progress.js';
import type { Finding } from './finding.js';

/** A slow line and a slow disk. */
const DEADLINE_MS = 45 * 60_000;
const DEBOOTSTRAP = 'debootstrap';
const DEBOOTSTRAP_BASE = 'troupe-base:bookworm';

/**
 * Makes sure that the engine has the worker image: the one that is configured is pulled, ours is built.
 *
 * @param base the image to build on; `debootstrap` makes one here, where no image registry can be reached. The file
 *   system that it makes is kept in the cache folder for the next time.
 */
export async function prepareWorkerImage(config: Config, base: string | undefined): Promise<Finding> {
  const what = 'Worker image';
  const level = config.driver === 'docker' || base !== undefined ? 'failed' : 'note';
  if (config.dockerSocket === null) {
    return {
      level,
      what,
      why: 'DOCKER_HOST names an engine of another machine',
      fix: 'set DOCKER_HOST to a unix:// socket of this machine',
    };
  }
  const engine = new DockerEngine(config.dockerSocket);
  const answer = await engine.version();
  if ('why' in answer)
    return { level, what, why: answer.why, fix: `start Docker, then run ${typedCommand()} setup again` };
  const name = config.worker.image ?? (await workerImageName());
  const there = await findImage(engine, name);
  if (there !== null) return { level: 'ok', what, why: `${name} exists` };
  const signal = limitSignal(DEADLINE_MS);
  const progress = showProgress(what, process.stdout);
  const say: OnProgress = (said) => progress.say(said);
  try {
    if (config.worker.image !== undefined) await pullImage(engine, name, signal, say);
    else {
      if (base === DEBOOTSTRAP) await debootstrapBase(engine, config.cacheDir, signal, say);
      await buildImage(engine, { name, base: base === DEBOOTSTRAP ? DEBOOTSTRAP_BASE : base, signal }, say);
    }
    progress.end();
    return { level: 'ok', what, why: `${name} is ready` };
  } catch (error) {
    progress.end();
    const fix =
      base === undefined && config.worker.image === undefined
        ? `if no image registry can be reached, run ${typedCommand()} setup --base debootstrap (on Debian, as root)`
        : 'fix what it says, then run the same command again';
    return { level, what, why: encodeError(error).error, fix };
  }
}

async function debootstrapBase(
  engine: DockerEngine,
  cacheDir: string,
  signal: AbortSignal,
  say: OnProgress,
): Promise<void> {
  if ((await findImage(engine, DEBOOTSTRAP_BASE)) !== null) return;
  const file = join(cacheDir, `base-bookworm-${process.arch}.tar`);
  if (!existsSync(file)) {
    await mkdir(cacheDir, { recursive: true });
    await runDebootstrap(file, signal, say);
  }
  await importImage(engine, { name: DEBOOTSTRAP_BASE, file, signal });
}

async function runDebootstrap(file: string, signal: AbortSignal, say: OnProgress): Promise<void> {
  const child = spawn(join(WORKER_SOURCES, 'debootstrap-base'), [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2_000);
  });
  let last = '';
  const read = async () => {
    for await (const line of linesOf(child.stdout)) {
      last = line ?? last;
      say(last);
    }
  };
  const [[code]] = await Promise.all([once(child, 'close'), read()]);
  if (code === 0) return;
  throw new TroupeError('UNAVAILABLE', `the base could not be made: ${complaint.trim() || last}`);
}
