import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  findImage,
  tarFile,
  WORKER_SOURCES,
  type WorkerImage,
  workerImageName,
} from '#troupe/containers/docker/worker-image.js';
import { engineInUse } from './docker.js';

/** What `troupe setup --base debootstrap` builds on. */
const BASE_IMAGE = 'troupe-base:bookworm';

/** The worker image once more, built without anything of the first build but its base: as another machine has it. */
export async function secondImage(): Promise<WorkerImage> {
  const engine = engineInUse();
  const name = (await workerImageName()).replace(':', '-second:');
  const known = await findImage(engine, name);
  if (known !== null) return known;
  const entries = await Promise.all(
    ['Dockerfile', 'worker', 'healthy', 'policy.json'].map(async (file) => {
      const path = join(WORKER_SOURCES, file);
      return { name: file, mode: (await stat(path)).mode & 0o777, content: await readFile(path) };
    }),
  );
  const base = await findImage(engine, BASE_IMAGE);
  const buildargs = base === null ? {} : { BASE: BASE_IMAGE };
  const docker = await engine.docker({ signal: AbortSignal.timeout(1_800_000) });
  const tar = Readable.from([await tarFile(entries)]);
  // The steps of a build only fetch packages; an engine may have no bridge of its own.
  const options = { t: name, rm: true, forcerm: true, nocache: true, networkmode: 'host', buildargs };
  const said = await text(await docker.buildImage(tar, options));
  const built = await findImage(engine, name);
  if (built === null) throw new Error(`The second image was not built: ${said.slice(-2_000)}`);
  return built;
}
