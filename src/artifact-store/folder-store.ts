import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asAbsent, ifMissing, sentenceOf } from '../base/system-fault.js';
import { contentOf, openRegularFile } from '../files/regular-file.js';
import { TroupeError } from '../protocol/errors.js';
import {
  type ArtifactPlace,
  type ArtifactStore,
  exactly,
  isArtifactPath,
  type OpenStored,
  type StoredArtifact,
} from './artifact-store.js';

/** Files that are being written, and folders that are being removed. */
const isHidden = (name: string) => name.startsWith('.');

/** Artifacts in a folder, such as a mounted share: `sessions/<id>/` below it. */
export class FolderStore implements ArtifactStore {
  readonly description: string;
  readonly #folder: string;
  readonly #sessions: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#sessions = join(folder, 'sessions');
    this.description = `the folder ${folder}`;
  }

  put(
    { session, path }: ArtifactPlace,
    content: Readable,
    { bytes, signal }: { readonly bytes: number; readonly signal: AbortSignal },
  ): Promise<void> {
    let fault: unknown;
    const failed = (error: unknown) => {
      fault = error;
    };
    const put = this.#explained(async () => {
      const target = join(this.#sessions, session, path);
      const part = join(dirname(target), `.${randomUUID()}.part`);
      try {
        await this.#assertMounted();
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        const file = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true });
        await pipeline(content, (source) => exactly(source, bytes, failed), file, { signal });
        await rename(part, target);
      } catch (error) {
        content.destroy();
        await rm(part, { force: true }).catch(() => undefined);
        throw error;
      }
    }, signal);
    return put.catch((error: unknown) => Promise.reject(fault ?? error));
  }

  list(session: string): Promise<readonly StoredArtifact[]> {
    return this.#explained(async () => {
      await this.#assertMounted();
      const found: StoredArtifact[] = [];
      await listInto(found, join(this.#sessions, session), '');
      return found;
    });
  }

  open({ session, path }: ArtifactPlace): Promise<OpenStored | null> {
    return this.#explained(async () => {
      if (!isArtifactPath(path)) return null;
      const opened = await openRegularFile(join(this.#sessions, session, path));
      if (opened === null) {
        await this.#assertMounted();
        return null;
      }
      return {
        bytes: opened.stats.size,
        modifiedAt: opened.stats.mtime,
        open: (range) => contentOf(opened, range),
        close: () => opened.file.close(),
      };
    });
  }

  remove(session: string): Promise<void> {
    return this.#explained(async () => {
      await this.#assertMounted();
      await rm(join(this.#sessions, session), { recursive: true, force: true });
    });
  }

  dropUnfinished(session: string): Promise<void> {
    return this.#explained(async () => {
      await this.#assertMounted();
      const names = (await readdir(join(this.#sessions, session), { recursive: true }).catch(ifMissing)) ?? [];
      for (const name of names) {
        if (/(^|\/)\.[^/]+\.part$/.test(name)) await rm(join(this.#sessions, session, name), { force: true });
      }
    });
  }

  check(): Promise<void> {
    return this.#explained(async () => {
      await this.#assertMounted();
      await mkdir(this.#sessions, { recursive: true, mode: 0o700 });
      const probe = join(this.#sessions, `.${randomUUID()}.probe`);
      try {
        await writeFile(probe, 'probe');
        if ((await readFile(probe, 'utf8')) !== 'probe')
          throw new Error('what was read back differs from what was written');
      } finally {
        await rm(probe, { force: true });
      }
    });
  }

  /** A folder that is not mounted is missing: it must never look like one without artifacts. */
  async #assertMounted(): Promise<void> {
    const stats = await lstat(this.#folder).catch(ifMissing);
    if (stats === null) throw new Error('the folder is missing; mount or create it');
  }

  async #explained<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      const message = `Artifacts cannot be used in ${this.#folder}, which "artifacts.folder" of troupe.json names: ${sentenceOf(cause)}`;
      throw new TroupeError('UNAVAILABLE', message, undefined, { cause });
    }
  }
}

async function listInto(found: StoredArtifact[], dir: string, prefix: string): Promise<void> {
  const entries = (await readdir(dir, { withFileTypes: true }).catch(ifMissing)) ?? [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (isHidden(entry.name)) continue;
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) await listInto(found, join(dir, entry.name), `${path}/`);
    if (!entry.isFile()) continue;
    const stats = await lstat(join(dir, entry.name)).catch(asAbsent);
    if (stats?.isFile()) found.push({ path, bytes: stats.size, modifiedAt: stats.mtime });
  }
}
