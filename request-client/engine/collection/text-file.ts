import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TroupeError } from '#troupe/protocol/errors.js';

/** A larger file is rejected as a mistake. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** A text file that is written completely or not at all, and not over somebody else's changes. */
export class TextFile {
  readonly path: string;
  /** Of the file as last read or written; null if it did not exist. */
  #digest: string | null;

  private constructor(path: string, digest: string | null) {
    this.path = path;
    this.#digest = digest;
  }

  /** @throws NOT_FOUND; INVALID_REQUEST if it is too large */
  static async open(path: string): Promise<{ readonly file: TextFile; readonly text: string }> {
    const text = await read(path);
    if (text === null) throw new TroupeError('NOT_FOUND', `There is no file ${path}`);
    return { file: new TextFile(path, digestOf(text)), text };
  }

  /** Writes nothing before {@link write}. */
  static create(path: string): TextFile {
    return new TextFile(path, null);
  }

  /** The file counts as changed on disk unless its text has this SHA-256 digest. */
  expect(digest: string): void {
    this.#digest = digest;
  }

  /** Somebody else changed, created or removed the file since it was last read or written here. */
  async changedOnDisk(): Promise<boolean> {
    const text = await read(this.path);
    return (text === null ? null : digestOf(text)) !== this.#digest;
  }

  /**
   * Writes the complete file or nothing: into a new file beside it, which then replaces it. A link is followed, and the
   * file's mode kept.
   *
   * @throws INVALID_REQUEST with `details.changedOnDisk` if somebody else changed the file; `overwrite` allows it
   */
  async write(text: string, { overwrite = false } = {}): Promise<void> {
    if (!overwrite && (await this.changedOnDisk())) {
      const name = basename(this.path);
      const message =
        this.#digest === null
          ? `${name} exists already; choose another name, or overwrite it`
          : `${name} was changed on disk since it was opened; open it again, or overwrite it`;
      throw new TroupeError('INVALID_REQUEST', message, { changedOnDisk: true });
    }
    const target = await realpath(this.path).catch(() => this.path);
    const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o644,
    );
    try {
      const file = await open(temporary, 'wx', mode);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    this.#digest = digestOf(text);
  }
}

async function read(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES)
      throw new TroupeError('INVALID_REQUEST', `${path} has more than ${MAX_FILE_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return null;
    throw error;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
