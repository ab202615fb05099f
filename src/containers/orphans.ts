import { readdir, realpath } from 'node:fs/promises';
import { z } from 'zod';
import { removeFolder } from '../files/remove-folder.js';
import { closeTemporaryFolder, temporaryFolder } from './browser-folder.js';
import { isOwnFolder } from './chromium/browser-user.js';
import type { DockerEngine } from './docker/docker-engine.js';
import { INSTANCE_LABEL } from './docker/docker-identity.js';
import { refusedWith } from './docker/engine-fault.js';
import { leaseFolderPath, leaseOfFolder } from './lease-name.js';
import { removeBrowser } from './process/browser-removal.js';
import { LeaseFolder } from './process/lease-folder.js';
import { leasesUnder } from './process/process-leases.js';

/** Where browsers of a driver were to live, and whose they are. */
interface Whereabouts {
  readonly workDir: string;
  readonly instance: string;
}

const Listed = z.array(z.object({ Id: z.string() }));

/**
 * Removes the containers that an earlier service of this installation left, for one that has its browsers as processes.
 * Answers how many; 0 where no engine answers.
 */
export async function removeLeftoverContainers(engine: DockerEngine, where: Whereabouts): Promise<number> {
  if ('why' in (await engine.version())) return 0;
  const docker = await engine.docker();
  const filters = { label: [`${INSTANCE_LABEL}=${where.instance}`] };
  const left = Listed.parse(await docker.listContainers({ all: true, filters }));
  const remove = (id: string) => docker.getContainer(id).remove({ force: true, v: true });
  await Promise.all(left.map(({ Id }) => remove(Id).catch(refusedWith(404, 409))));
  for (const root of await rootsOf(where, 'docker')) {
    for (const name of await readdir(root)) {
      if (leaseOfFolder(name) !== null) await removeFolder(`${root}/${name}`);
    }
    await closeTemporaryFolder(root);
  }
  return left.length;
}

/**
 * Ends the browsers that an earlier service of this installation left as processes, for one that has containers. Answers
 * how many.
 * @throws UNAVAILABLE when a process outlives its killing
 */
export async function removeLeftoverProcesses(where: Whereabouts): Promise<number> {
  let removed = 0;
  for (const root of await rootsOf(where, 'process')) {
    const leases = [...(await leasesUnder(root))].map((id) => new LeaseFolder(leaseFolderPath(root, id)));
    await Promise.all(leases.map(async (folder) => removeBrowser(folder, await folder.readNote())));
    await closeTemporaryFolder(root);
    removed += leases.length;
  }
  return removed;
}

/** Those of the driver's folders that are there. */
async function rootsOf({ workDir, instance }: Whereabouts, driver: 'docker' | 'process'): Promise<readonly string[]> {
  const inHome = await realpath(workDir).catch(() => null);
  const temporary = await temporaryFolder(instance, driver);
  // Anyone can make a folder of that name.
  const isOurs = await isOwnFolder(temporary).catch(() => false);
  return [...(inHome === null ? [] : [inHome]), ...(isOurs ? [temporary] : [])];
}
