import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, open, type ZipFile } from 'yauzl';
import { TroupeError } from '../../protocol/errors.js';
import type { ServiceClient } from '../service-client.js';

/** Zips that are fetched and unpacked at a time. */
const AT_ONCE = 2;

/** Unpacks the artifacts of jobs as they end, each into a folder of its own. */
export class RunReports {
  readonly #client: ServiceClient;
  readonly #dir: string;
  readonly #waiting: { readonly id: string; readonly folder: string }[] = [];
  readonly #faults: string[] = [];
  #working = 0;
  #onIdle: () => void = () => undefined;

  /** @param dir made if need be; what is in it stays, files of the same name are replaced */
  constructor(client: ServiceClient, dir: string) {
    this.#client = client;
    this.#dir = dir;
  }

  /** Begins to fetch a job's artifacts. */
  add(id: string, folder: string): void {
    this.#waiting.push({ id, folder });
    if (this.#working < AT_ONCE) void this.#work();
  }

  /** Settles when all that was added is there, with what could not be had. */
  async done(): Promise<readonly string[]> {
    while (this.#working > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    return this.#faults;
  }

  async #work(): Promise<void> {
    this.#working += 1;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        await this.#unpack(job.id, join(this.#dir, job.folder));
      } catch (error) {
        this.#faults.push(`${job.folder}: its report could not be had: ${String(error)}`);
      }
    }
    this.#working -= 1;
    if (this.#working === 0) this.#onIdle();
  }

  async #unpack(id: string, folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    const temporary = await mkdtemp(join(folder, '.zip-'));
    try {
      const file = join(temporary, 'artifacts.zip');
      await pipeline(await this.#client.download(`/api/sessions/${id}/download`), createWriteStream(file));
      await unpackZip(file, folder);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }
}

/**
 * Unpacks a zip below a folder.
 * @throws for a zip that is not whole; UNAVAILABLE for one with a name that leads out of the folder, which no service of ours writes
 */
export async function unpackZip(file: string, folder: string): Promise<void> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    open(file, { lazyEntries: true }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  await new Promise<void>((resolve, reject) => {
    const take = async (entry: Entry) => {
      const target = join(folder, entry.fileName);
      if (relative(folder, target).startsWith('..')) {
        throw new TroupeError('UNAVAILABLE', `The zip has a name that leads out of it: ${entry.fileName}`);
      }
      if (!entry.fileName.endsWith('/')) {
        await mkdir(dirname(target), { recursive: true });
        await pipeline(await contentOf(zip, entry), createWriteStream(target));
      }
      zip.readEntry();
    };
    zip.on('entry', (entry: Entry) => void take(entry).catch(reject));
    zip.on('end', resolve).on('error', reject);
    zip.readEntry();
  }).finally(() => zip.close());
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}
