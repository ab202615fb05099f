import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { listInside } from '../../agent-js/files/list-inside.js';
import { pathInside } from '../../agent-js/flows/flow-folder.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import { contentOf, openRegularFile } from '../../files/regular-file.js';
import type { Journal } from '../../journal/journal.js';
import { removeBatchFlows } from './batch-flows.js';

/** The entry that names the newest change; each node reads it every five seconds. */
const NEWS = 'news';
const FILE = 'file/';

const StoredFile = z.object({ at: z.string(), base64: z.string() });

export interface SharedFlowsParts {
  readonly config: Pick<Config, 'flowsDir' | 'batchesDir'>;
  readonly journal: Pick<Journal, 'keyValues' | 'write'>;
  readonly clock: { now(): Date };
  readonly log: (line: string) => void;
}

/**
 * One version, for all nodes, of the files of `flows/` that Troupe itself writes: by `File.write` of jobs, as baselines, in
 * the dashboard's editor. Whoever wrote one stores it in the database, and the other nodes write it to their folders. The
 * later change of a file wins; one that a person changed later on a node's disk stays there.
 */
export class SharedFlows {
  readonly #parts: SharedFlowsParts;
  #seen = '';
  #work: Promise<void> = Promise.resolve();

  constructor(parts: SharedFlowsParts) {
    this.#parts = parts;
  }

  /**
   * A job has ended, or has left this node: what it wrote into its own folder is written to `flows/`, here and at all
   * nodes, and the folder is removed. Never rejects.
   */
  leave(sessionId: string): Promise<void> {
    const { config } = this.#parts;
    if (!existsSync(join(config.batchesDir, sessionId))) return Promise.resolve();
    return this.#next(`files that ${sessionId} wrote`, async () => {
      const folder = join(config.batchesDir, sessionId, 'flows');
      const changed: string[] = [];
      for (const path of await listInside(folder, '**', new AbortController().signal)) {
        // Files that it brought have a second name in the folder of their set.
        if ((await lstat(join(folder, path))).nlink === 1) changed.push(path);
      }
      for (const path of changed) await replaceFile(config.flowsDir, path, await contentAt(folder, path));
      await this.#store(changed);
      await removeBatchFlows(config, sessionId);
    });
  }

  /** A file of this node's `flows/` was changed through Troupe. Never rejects. */
  publish(path: string): Promise<void> {
    return this.#next(path, () => this.#store([path]));
  }

  /** Writes here what other nodes have changed. Never rejects: the next call tries again. */
  refresh(): Promise<void> {
    return this.#next('changes of other nodes', async () => {
      const { journal, config } = this.#parts;
      const [news] = await journal.keyValues('shared-flow', NEWS);
      const newest = z.string().safeParse(news?.data).data ?? '';
      if (newest === this.#seen) return;
      for (const { id, data } of await journal.keyValues('shared-flow', FILE)) {
        const stored = StoredFile.safeParse(data);
        if (stored.success) await this.#take(config.flowsDir, id.slice(FILE.length), stored.data);
      }
      this.#seen = newest;
    });
  }

  async #take(folder: string, path: string, { at, base64 }: z.infer<typeof StoredFile>): Promise<void> {
    const changedAt = new Date(at);
    const here = await lstat(pathInside(folder, path)).catch(() => null);
    if (here !== null && here.mtimeMs >= changedAt.getTime()) return;
    await replaceFile(folder, path, Buffer.from(base64, 'base64'), changedAt);
  }

  async #store(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { journal, config, clock } = this.#parts;
    const at = clock.now();
    const files = [];
    for (const path of paths) {
      const base64 = (await contentAt(config.flowsDir, path)).toString('base64');
      files.push({ kind: 'shared-flow', id: FILE + path, data: { at: at.toISOString(), base64 } } as const);
      await utimes(pathInside(config.flowsDir, path), at, at);
    }
    const news = `${at.toISOString()} ${randomBytes(6).toString('hex')}`;
    await journal.write({ keyValues: [...files, { kind: 'shared-flow', id: NEWS, data: news }] });
  }

  #next(what: string, work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#parts.log(`flows of all nodes: ${what}: ${sentenceOf(error)}`);
    });
    return this.#work;
  }
}

async function contentAt(folder: string, path: string): Promise<Buffer> {
  const opened = await openRegularFile(pathInside(folder, path));
  if (opened === null) throw new Error(`${path} is gone`);
  return buffer(contentOf(opened));
}

/** Whole or not at all. */
async function replaceFile(folder: string, path: string, content: Buffer, changedAt?: Date): Promise<void> {
  const target = pathInside(folder, path);
  await mkdir(dirname(target), { recursive: true });
  const temporary = join(dirname(target), `.${randomBytes(9).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, content, { flag: 'wx' });
    if (changedAt !== undefined) await utimes(temporary, changedAt, changedAt);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
