import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { IMAGES } from './images.js';
import type { Machine } from './machines.js';

const DEPLOY = join(WORKER_SOURCES, '../deploy');

export const ADMIN = 'the-admin-token-of-this-stack';
const PASSWORD = 'a-password';

/** deploy/stack.yml as this test deploys it. */
export interface Stack {
  /** Deploys it, again with another image of the service. */
  deploy(image: string): Promise<void>;
}

/**
 * Prepares a manager as docs/scaling.md says: secrets, the label of the database's machine, and the stack's files. Two things differ
 * from what users deploy: the configuration of the nodes, and the networks, which the kernel of a test may not be able to encrypt.
 */
export async function prepareStack(manager: Machine, folder: string, machines: readonly Machine[]): Promise<Stack> {
  mkdirSync(folder);
  for (const name of ['stack', 'docker-proxy.cfg']) cpSync(join(DEPLOY, name), join(folder, name), { recursive: true });
  const file = join(folder, 'stack.yml');
  const encrypted = '    driver_opts:\n      encrypted: ""\n';
  const text = readFileSync(join(DEPLOY, 'stack.yml'), 'utf8');
  if (!text.includes(encrypted)) throw new Error('deploy/stack.yml does not encrypt its network');
  writeFileSync(file, text.replace(encrypted, ''));
  const settings = JSON.parse(readFileSync(join(folder, 'stack/troupe.json'), 'utf8'));
  const own = {
    worker: { image: IMAGES.worker, memory: 600 },
    maxSessions: 2,
    warmSessions: 0,
    // Three machines share the processor of one.
    createTimeout: 300,
    publicUrl: 'http://troupe.test:4444',
    allowedHosts: machines.map(({ address }) => address),
    node: { leaseFactor: 0.5 },
  };
  writeFileSync(join(folder, 'stack/troupe.json'), JSON.stringify({ ...settings, ...own }));
  const secrets = {
    troupe_admin: ADMIN,
    troupe_cluster_key: 'a key that all nodes of this stack share',
    troupe_database_password: PASSWORD,
    troupe_database: `postgres://troupe:${PASSWORD}@database:5432/troupe`,
  };
  for (const [name, input] of Object.entries(secrets))
    await manager.dockerWith({ input }, 'secret', 'create', name, '-');
  await manager.docker('node', 'update', '--label-add', 'troupe-database=on', manager.name);
  return {
    async deploy(image) {
      const images = {
        TROUPE_IMAGE: image,
        TROUPE_WORKER_IMAGE: IMAGES.worker,
        TROUPE_HAPROXY_IMAGE: IMAGES.haproxy,
        TROUPE_POSTGRES_IMAGE: IMAGES.postgres,
      };
      const words = ['stack', 'deploy', '--detach=true', '--resolve-image', 'never', '-c', file, 'troupe'];
      await manager.dockerWith({ env: { ...process.env, ...images } }, ...words);
    },
  };
}
