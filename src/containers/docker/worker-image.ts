import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { TarArchive } from 'archiver';
import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { DockerEngine } from './docker-engine.js';

/** The folder of the image's sources, inside the package. */
export const WORKER_SOURCES = fileURLToPath(new URL('../../../worker-container/', import.meta.url));
const FILES = ['Dockerfile', 'worker', 'healthy', 'policy.json'];
const REPOSITORY = 'troupe-worker';

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
  const { status, body } = await engine.call('GET', `/images/${name}/json`, { accept: [404] });
  return status === 404 ? null : { name, id: Inspected.parse(JSON.parse(body.toString('utf8'))).Id };
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
  const buildargs = JSON.stringify(base === undefined ? {} : { BASE: base });
  // Containers of steps that failed are removed too.
  const query = { t: name, rm: '1', forcerm: '1', buildargs };
  await follow(engine.lines('POST', '/build', { query, tar: await tarFile(entries), signal }), onProgress);
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
  await follow(engine.lines('POST', '/images/create', { query: { fromImage }, signal }), onProgress);
  return found(engine, name);
}

/** Makes an image out of a file system in a tar file. @throws UNAVAILABLE */
export async function importImage(
  engine: DockerEngine,
  options: { readonly name: string; readonly file: string; readonly signal: AbortSignal },
): Promise<WorkerImage> {
  const { name, file, signal } = options;
  const [repo = name, tag = 'latest'] = name.split(':');
  const query = { fromSrc: '-', repo, tag };
  const tar = createReadStream(file);
  await follow(engine.lines('POST', '/images/create', { query, tar, signal, deadlineMs: 300_000 }), () => undefined);
  return found(engine, name);
}

async function found(engine: DockerEngine, name: string): Promise<WorkerImage> {
  const image = await findImage(engine, name);
  if (image === null)
    throw new TroupeError('UNAVAILABLE', `The engine says that it made ${name}, and does not have it`);
  return image;
}

async function follow(lines: AsyncIterable<unknown>, onProgress: OnProgress): Promise<void> {
  for await (const line of lines) {
    const { stream, status, error } = Progress.parse(line);
    if (error !== undefined) throw new TroupeError('UNAVAILABLE', error);
    const said = (stream ?? status ?? '').trim();
    if (said !== '') onProgress(said);
  }
}
