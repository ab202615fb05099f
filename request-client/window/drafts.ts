import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { member, textOf } from '../engine/collection/json-access.js';

/** An unsaved text. */
export interface Draft {
  readonly text: string;
  /** {@link digestOf} the file that it changes. */
  readonly base: string;
}

/** An edit is on disk after this, also while more are made. */
const WRITE_AFTER_MS = 200;
const NEW = /^new-(\d+)-[\da-f]+\.json$/;

/**
 * Unsaved changes, in files that only their owner can read, so that they survive a kill. A file of the user has a draft
 * under its path; a document without a file has one under the id of this process.
 */
export class Drafts {
  /** Null if nothing is stored on disk. */
  readonly #folder: string | null;
  readonly #ownName = `new-${process.pid}-${randomBytes(6).toString('hex')}.json`;
  /** What is not written yet; null removes a draft. */
  readonly #waiting = new Map<string, string | null>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** Keeps the unsaved text of a file, or of the new document if `path` is null. A null draft removes it. */
  keep(path: string | null, draft: Draft | null): void {
    if (this.#folder === null) return;
    const name = this.#nameOf(path);
    this.#waiting.set(name, draft === null ? null : `${JSON.stringify({ ...draft, path })}\n`);
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS);
  }

  /** The draft of a file, or null. */
  async find(path: string): Promise<Draft | null> {
    return await this.#read(this.#nameOf(path));
  }

  /** Takes over the newest draft of a new document whose process has ended, or returns null. */
  async adopt(): Promise<Draft | null> {
    const folder = this.#folder;
    if (folder === null) return null;
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort().reverse()) {
      const [, pid] = NEW.exec(name) ?? [];
      if (pid === undefined || isRunning(Number(pid))) continue;
      const draft = await this.#read(name);
      // Two starts at once: only one of them can rename it.
      const taken = await rename(join(folder, name), join(folder, this.#ownName)).then(
        () => true,
        () => false,
      );
      if (draft !== null && taken) return draft;
    }
    return null;
  }

  /** Settles when everything is on disk. A failed write is not an error: it must not prevent an edit. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#writing = this.#writing.then(async () => {
      for (const [name, text] of waiting) await this.#write(name, text).catch(() => undefined);
    });
    await this.#writing;
  }

  async #write(name: string, text: string | null): Promise<void> {
    const folder = this.#folder;
    if (folder === null) return;
    const path = join(folder, name);
    if (text === null) return await rm(path, { force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = `${path}.tmp`;
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, path);
  }

  async #read(name: string): Promise<Draft | null> {
    if (this.#folder === null) return null;
    try {
      const value: unknown = JSON.parse(await readFile(join(this.#folder, name), 'utf8'));
      const [text, base] = [textOf(member(value, 'text')), textOf(member(value, 'base'))];
      return text === undefined || base === undefined ? null : { text, base };
    } catch {
      return null;
    }
  }

  #nameOf(path: string | null): string {
    return path === null
      ? this.#ownName
      : `${digestOf(path).slice(0, 32)}-${basename(path)
          .replace(/[^\w.-]/g, '_')
          .slice(-60)}`;
  }
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user.
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}
