import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { TarArchive } from 'archiver';
import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { DockerEngine } from './docker-engine.js';
import { refusedWith } from './engine-fault.js';
import { valuesOf } from './engine-streams.js';

/** The folder of the image's sources, inside the package. */
export const WORKER_SOURCES = fileURLToPath(new URL('../../../worker-container/', import.meta.url));
const FILES = ['Dockerfile', 'worker', 'healthy', 'policy.json'];
const REPOSITORY = 'troupe-worker';
/** A service that starts waits no longer for an engine that stalls. */
const INSPECT_MS = 10_000;
/** The file system of an image goes to the engine before it answers. */
const IMPORT_MS = 300_000;

const Inspected = z.object({ Id: z.string() });
const Progress = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
});

/** The image that workers are made from, as this engine has it. */
export interface WorkerImage {
  readonly name: string;
  /** What containers are made from: a name can be given to another image, an id cannot. */
  readonly id: string;
}

/** Told of each thing that the engine says while it works. */
export type OnProgress = (said: string) => void;

/** The name that these sources build: it changes with them, so that an image of another version is never taken for this. */
export async function workerImageName(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of FILES) hash.update(`${name}\0`).update(await readFile(join(WORKER_SOURCES, name)));
  return `${REPOSITORY}:${hash.digest('hex').slice(0, 12)}`;
}

/** The image of that name, or null when the engine does not have it. */
export async function findImage(engine: DockerEngine, name: string): Promise<WorkerImage | null> {
  const docker = await engine.docker({ deadlineMs: Math.min(INSPECT_MS, engine.deadlineMs) });
  const inspected = await docker.getImage(name).inspect().catch(refusedWith(404));
  return inspected === 404 ? null : { name, id: Inspected.parse(inspected).Id };
}

/** Builds the image. The engine fetches `base` from its registry when it does not have it. @throws UNAVAILABLE */
export async function buildImage(
  engine: DockerEngine,
  options: { readonly name: string; readonly base: string | undefined; readonly signal: AbortSignal },
  onProgress: OnProgress,
): Promise<WorkerImage> {
  const { name, base, signal } = options;
  const entries = await Promise.all(
    FILES.map(async (file) => {
      const path = join(WORKER_SOURCES, file);
      return { name: file, mode: (await stat(path)).mode & 0o777, content: await readFile(path) };
    }),
  );
  const buildargs = base === undefined ? {} : { BASE: base };
  const docker = await engine.docker({ signal });
  const tar = Readable.from([await tarFile(entries)]);
  // Containers of steps that failed are removed too.
  await follow(await docker.buildImage(tar, { t: name, rm: true, forcerm: true, buildargs }), onProgress);
  return found(engine, name);
}

/** A file for {@link tarFile}. */
export interface TarEntry {
  readonly name: string;
  readonly mode: number;
  readonly content: Buffer;
}

/** Small files as one tar archive, which the same files make again byte for byte. */
export async function tarFile(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = new TarArchive();
  for (const { name, mode, content } of entries) tar.append(content, { name, mode, date: new Date(0) });
  const [packed] = await Promise.all([buffer(tar), tar.finalize()]);
  return packed;
}

/** Fetches an image from its registry. @throws UNAVAILABLE */
export async function pullImage(
  engine: DockerEngine,
  name: string,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<WorkerImage> {
  // Without a tag the engine would fetch them all.
  const fromImage = /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
  const docker = await engine.docker({ signal });
  await follow(await docker.createImage({ fromImage }), onProgress);
  return found(engine, name);
}

/** Makes an image out of a file system in a tar file. @throws UNAVAILABLE */
export async function importImage(
  engine: DockerEngine,
  options: { readonly name: string; readonly file: string; readonly signal: AbortSignal },
): Promise<WorkerImage> {
  const { name, file, signal } = options;
  const [repo = name, tag = 'latest'] = name.split(':');
  const docker = await engine.docker({ signal, deadlineMs: IMPORT_MS });
  await follow(await docker.importImage(file, { repo, tag }), () => undefined);
  return found(engine, name);
}

async function found(engine: DockerEngine, name: string): Promise<WorkerImage> {
  const image = await findImage(engine, name);
  if (image === null)
    throw new TroupeError('UNAVAILABLE', `The engine says that it made ${name}, and does not have it`);
  return image;
}

async function follow(progress: NodeJS.ReadableStream, onProgress: OnProgress): Promise<void> {
  for await (const line of valuesOf(progress)) {
    const { stream, status, error } = Progress.parse(line);
    if (error !== undefined) throw new TroupeError('UNAVAILABLE', error);
    const said = (stream ?? status ?? '').trim();
    if (said !== '') onProgress(said);
  }
}
