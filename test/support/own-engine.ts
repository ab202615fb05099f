import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerEngine } from '#troupe/containers/docker/docker-engine.js';
import { eventually } from './eventually.js';
import type { Teardown } from './service.js';

const START_MS = 60_000;

/**
 * A Docker engine that a test may stop. It lives in a network of its own, since one without a bridge removes the one that
 * another has; its data go with the test.
 */
export interface OwnEngine {
  readonly engine: DockerEngine;
  /** What `DOCKER_HOST` is to be for it. */
  readonly host: string;
  start(): Promise<void>;
  /** In order, as a restart of the machine's Docker does: its containers end with it. Idempotent. */
  stop(): Promise<void>;
}

/** Starts an engine of the test's own and gives it an image of the one in use. Wants root. */
export async function startOwnEngine(t: Teardown, image: string): Promise<OwnEngine> {
  const root = mkdtempSync(join(tmpdir(), 'e-'));
  const host = `unix://${root}/docker.sock`;
  const engine = new DockerEngine(`${root}/docker.sock`);
  const words = ['--host', host, '--data-root', `${root}/data`, '--exec-root', `${root}/run`];
  const more = ['--pidfile', `${root}/docker.pid`, '--bridge', 'none', '--iptables=false'];
  let daemon: ChildProcess | null = null;
  const own: OwnEngine = {
    engine,
    host,
    async start() {
      daemon = spawn('unshare', ['--net', 'dockerd', ...words, ...more], { stdio: ['ignore', 'ignore', 'pipe'] });
      daemon.stderr?.pipe(createWriteStream(`${root}/log`, { flags: 'a' }));
      await eventually('the engine answers', async () => 'version' in (await engine.version()), START_MS);
    },
    async stop() {
      const ending = daemon;
      daemon = null;
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = once(ending, 'exit');
      ending.kill('SIGTERM');
      await ended;
    },
  };
  t.teardown(async () => {
    await own.stop();
    // It mounts its data folder onto itself, and leaves that.
    spawnSync('umount', [`${root}/data`]);
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  await own.start();
  const save = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] });
  const load = spawn('docker', ['--host', host, 'load', '--quiet'], { stdio: [save.stdout, 'ignore', 'inherit'] });
  const [code] = await once(load, 'exit');
  if (code !== 0) throw new Error(`The image was not taken over: docker load ended with ${code}`);
  return own;
}
