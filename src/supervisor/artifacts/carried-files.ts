import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, lstat, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { listInside } from '../../agent-js/files/list-inside.js';
import { pathInside } from '../../agent-js/flows/flow-folder.js';
import type { Clock } from '../../base/clock.js';
import type { Config } from '../../config.js';
import { contentOf, openRegularFile } from '../../files/regular-file.js';
import type { Journal, KeyValue } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { SharedBatchFlows } from './shared-batch-flows.js';

type Dirs = Pick<Config, 'flowsDir' | 'requestsDir' | 'batchesDir'>;

/** The folders of a home that a job may use, by their names in a set. */
const FOLDERS = { flows: 'flowsDir', requests: 'requestsDir' } as const;

/** Text, or bytes that are none. */
const Content = z.union([z.string(), z.object({ base64: z.string() })]);
const Contents = z.record(z.string(), Content);
type Contents = z.infer<typeof Contents>;
const StoredSet = z.object({ at: z.string() });

const MAX_BYTES = 64 * 1024 * 1024;
const HOUR_MS = 3_600_000;
/** A set that no job has, and that was stored so long ago, is removed. */
const UNUSED_MS = 48 * HOUR_MS;
const SET_PREFIX = 'set-';

interface Snapshot {
  /** Of paths, sizes and times: as long as it is the same, so is the content. */
  readonly signature: string;
  readonly hash: string;
  readonly storedAtMs: number;
}

export interface CarriedFilesParts {
  readonly config: Dirs;
  readonly journal: Pick<Journal, 'keyValues' | 'write'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * What a job brings with it to the node that runs it: the files of `flows/` and `requests/` at the node that accepted it,
 * as they were then. The set of them is stored in the database by the hash of its content, once for all jobs that have
 * it, and each job gets a folder of its own that has the files of its set.
 */
export class CarriedFiles {
  readonly #parts: CarriedFilesParts;
  readonly #batchFlows: SharedBatchFlows;
  readonly #fetching = new Map<string, Promise<void>>();
  #last: Snapshot | null = null;
  #taking: Promise<unknown> = Promise.resolve();

  constructor(parts: CarriedFilesParts) {
    this.#parts = parts;
    this.#batchFlows = new SharedBatchFlows(parts);
  }

  /**
   * The entries to write with a job, or with a batch for all of its jobs.
   * @param owner the id of the job or of its batch
   * @throws INVALID_REQUEST if there are more files, or more bytes, than can be brought along; the disk's error
   */
  entriesFor(owner: string): Promise<readonly KeyValue[]> {
    // One after another: each looks at the folders after it was asked.
    const taken = this.#taking.then(() => this.#entriesFor(owner));
    this.#taking = taken.catch(() => undefined);
    return taken;
  }

  async #entriesFor(owner: string): Promise<readonly KeyValue[]> {
    const { config, clock } = this.#parts;
    const now = clock.now();
    const signature = await signatureOf(config);
    const known = this.#last;
    const isStored = known?.signature === signature && now.getTime() - known.storedAtMs < HOUR_MS;
    if (known !== null && isStored) return [{ kind: 'job-files', id: owner, data: known.hash }];
    const files = await readAll(config);
    const hash = hashOf(files);
    this.#last = { signature, hash, storedAtMs: now.getTime() };
    return [
      { kind: 'job-files', id: owner, data: hash },
      { kind: 'file-set', id: hash, data: { at: now.toISOString() } },
      { kind: 'file-set-data', id: hash, data: files },
    ];
  }

  /** What {@link entriesFor} returned was not written: the next job stores its set again. */
  notWritten(): void {
    this.#last = null;
  }

  /** Resolves when the job's files are in this home; see `flowsDirOf`. @throws the journal's error, or the disk's */
  async fetch({ id, batch }: { readonly id: string; readonly batch: string | null }): Promise<void> {
    if (batch !== null) await this.#batchFlows.fetch(batch);
    const { config, journal } = this.#parts;
    const folder = join(config.batchesDir, id);
    if (existsSync(folder)) return;
    const owner = batch ?? id;
    const hash = z
      .string()
      .safeParse((await journal.keyValues('job-files', owner)).find((row) => row.id === owner)?.data);
    // A node of the version before accepted it.
    if (!hash.success) return;
    const files = await this.#set(hash.data);
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    for (const name of Object.keys(FOLDERS)) await mkdir(join(part, name), { recursive: true });
    for (const path of files) {
      const target = pathInside(part, path);
      await mkdir(dirname(target), { recursive: true });
      // Whoever changes a file of the job replaces it, and does not write to what other jobs have.
      await link(join(config.batchesDir, SET_PREFIX + hash.data, path), target);
    }
    await rename(part, folder);
  }

  /** Makes the set's folder, and returns the paths in it. */
  async #set(hash: string): Promise<readonly string[]> {
    const folder = join(this.#parts.config.batchesDir, SET_PREFIX + hash);
    const fetching = this.#fetching.get(hash) ?? this.#copySet(hash, folder);
    this.#fetching.set(hash, fetching);
    await fetching.finally(() => this.#fetching.delete(hash));
    // As long as it is used, it is not old.
    const now = this.#parts.clock.now();
    await utimes(folder, now, now);
    return listInside(folder, '**', new AbortController().signal);
  }

  async #copySet(hash: string, folder: string): Promise<void> {
    if (existsSync(folder)) return;
    const [row] = await this.#parts.journal.keyValues('file-set-data', hash);
    const files = Contents.safeParse(row?.data);
    if (!files.success) throw new TroupeError('INTERNAL', `The files of the job, ${hash}, are not in the database`);
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(part, { recursive: true });
    for (const [path, content] of Object.entries(files.data)) {
      const file = pathInside(part, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'));
    }
    await rename(part, folder);
  }

  /** Removes sets from the database that no job has. @throws the journal's error */
  async removeUnused(): Promise<void> {
    const { journal, clock } = this.#parts;
    const before = new Date(clock.now().getTime() - UNUSED_MS).toISOString();
    const old = (await journal.keyValues('file-set')).filter(({ data }) => {
      const stored = StoredSet.safeParse(data);
      return !stored.success || stored.data.at < before;
    });
    if (old.length === 0) return;
    const used = new Set((await journal.keyValues('job-files')).map(({ data }) => data));
    const unused = old.filter(({ id }) => !used.has(id));
    if (unused.length === 0) return;
    await journal.write({
      keyValues: unused.flatMap(({ id }) => [
        { kind: 'file-set', id, data: null },
        { kind: 'file-set-data', id, data: null },
      ]),
    });
  }
}

async function* eachFile(config: Dirs): AsyncGenerator<{ readonly path: string; readonly file: string }, void> {
  for (const [name, key] of Object.entries(FOLDERS)) {
    const folder = config[key];
    for (const path of await listInside(folder, '**', new AbortController().signal).catch(tooMany)) {
      yield { path: `${name}/${path}`, file: join(folder, path) };
    }
  }
}

async function signatureOf(config: Dirs): Promise<string> {
  const hash = createHash('sha256');
  for await (const { path, file } of eachFile(config)) {
    const stats = await lstat(file, { bigint: true }).catch(() => null);
    if (stats !== null) hash.update(`${path}\0${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}\0`);
  }
  return hash.digest('hex');
}

async function readAll(config: Dirs): Promise<Contents> {
  const files: Contents = {};
  let bytes = 0;
  for await (const { path, file } of eachFile(config)) {
    const opened = await openRegularFile(file);
    // Removed meanwhile, or not readable: no job can use it here either.
    if (opened === null) continue;
    bytes += opened.stats.size;
    if (bytes > MAX_BYTES) {
      await opened.file.close();
      throw refused(
        `flows/ and requests/ have more than ${MAX_BYTES / 1024 ** 2} MB, which a job cannot bring to other nodes`,
      );
    }
    const content = await buffer(contentOf(opened));
    const text = content.toString('utf8');
    files[path] =
      !text.includes('\0') && Buffer.from(text).equals(content) ? text : { base64: content.toString('base64') };
  }
  return files;
}

function hashOf(files: Contents): string {
  const hash = createHash('sha256');
  for (const path of Object.keys(files).sort()) hash.update(JSON.stringify([path, files[path]]));
  return hash.digest('hex');
}

function tooMany(cause: unknown): never {
  if (cause instanceof TroupeError) throw refused('flows/ or requests/ has more than 10,000 files or folders');
  throw cause;
}

function refused(what: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', `${what}; move files away that no flow uses`);
}
