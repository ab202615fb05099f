import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** The most bytes and files of a session's uploads, including uploads in progress. */
export const MAX_SESSION_UPLOAD_BYTES = 1024 * 1024 * 1024;
export const MAX_UPLOADS = 1_000;

/** Folders with uploads in progress. */
const quotas = new Map<string, UploadQuota>();

/** An upload in progress. */
export interface UploadSlot {
  /** @throws BODY_TOO_LARGE if the session's uploads would have too many bytes */
  addBytes(bytes: number): void;
  /** The file was stored under its name. */
  stored(): void;
  /** Idempotent; must be called however the upload ended. */
  leave(): void;
}

/**
 * Reserves quota for an upload into a folder. Bytes count as they arrive, so concurrent uploads share the same limit as
 * successive ones; a file that is replaced does not count.
 * @throws BODY_TOO_LARGE beyond {@link MAX_UPLOADS} or {@link MAX_SESSION_UPLOAD_BYTES}
 */
export async function reserveUpload(dir: string, name: string): Promise<UploadSlot> {
  const quota = quotas.get(dir) ?? new UploadQuota(dir);
  quotas.set(dir, quota);
  return await quota.reserve(name);
}

/** The sizes of a folder's files, while uploads into it are in progress: nothing else writes to it. */
class UploadQuota {
  readonly #dir: string;
  readonly #stored: Promise<Map<string, number>>;
  #underWay = 0;
  #arriving = 0;

  constructor(dir: string) {
    this.#dir = dir;
    this.#stored = sizesIn(dir);
  }

  async reserve(name: string): Promise<UploadSlot> {
    this.#underWay += 1;
    let own = 0;
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      this.#arriving -= own;
      this.#underWay -= 1;
      if (this.#underWay === 0) quotas.delete(this.#dir);
    };
    try {
      const stored = await this.#stored;
      this.#assertQuota(stored, name);
      return {
        addBytes: (bytes) => {
          own += bytes;
          this.#arriving += bytes;
          try {
            this.#assertQuota(stored, name);
          } catch (error) {
            // Release at once, so that other uploads can use the quota while this file is being removed.
            leave();
            throw error;
          }
        },
        stored: () => void stored.set(name, own),
        leave,
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #assertQuota(stored: ReadonlyMap<string, number>, replaced: string): void {
    let bytes = this.#arriving - (stored.get(replaced) ?? 0);
    for (const size of stored.values()) bytes += size;
    const files = stored.size + this.#underWay - (stored.has(replaced) ? 1 : 0);
    if (bytes <= MAX_SESSION_UPLOAD_BYTES && files <= MAX_UPLOADS) return;
    const message = `The uploads of a session may have at most ${MAX_SESSION_UPLOAD_BYTES} bytes and ${MAX_UPLOADS} files in total`;
    throw new TroupeError('BODY_TOO_LARGE', message, { bytes, files });
  }
}

async function sizesIn(dir: string): Promise<Map<string, number>> {
  const names = await readdir(dir);
  const sizeOf = async (name: string): Promise<[string, number]> => [
    name,
    (await lstat(join(dir, name)).catch(asAbsent))?.size ?? 0,
  ];
  return new Map(await Promise.all(names.map(sizeOf)));
}
