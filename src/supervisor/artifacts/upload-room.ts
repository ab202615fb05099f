import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** What one session's uploads may have together, those under way included. */
export const MAX_SESSION_UPLOAD_BYTES = 1024 * 1024 * 1024;
export const MAX_UPLOADS = 1_000;

/** Folders that uploads are on their way to. */
const rooms = new Map<string, UploadRoom>();

/** An upload that is under way. */
export interface UploadPlace {
  /** @throws BODY_TOO_LARGE where the session's uploads would have too many bytes with these */
  take(bytes: number): void;
  /** The file is in its place under its name. */
  kept(): void;
  /** Idempotent; the caller calls it however the upload ended. */
  leave(): void;
}

/**
 * Makes room for one more upload into a folder. Bytes count as they arrive, so that many uploads at once have no more
 * than one after the other; a file that is replaced does not count.
 * @throws BODY_TOO_LARGE past {@link MAX_UPLOADS} or {@link MAX_SESSION_UPLOAD_BYTES}
 */
export async function enterUpload(dir: string, name: string): Promise<UploadPlace> {
  const room = rooms.get(dir) ?? new UploadRoom(dir);
  rooms.set(dir, room);
  return await room.enter(name);
}

/** What one folder holds, for as long as uploads are on their way to it: nobody else writes to it. */
class UploadRoom {
  readonly #dir: string;
  readonly #stored: Promise<Map<string, number>>;
  #underWay = 0;
  #arriving = 0;

  constructor(dir: string) {
    this.#dir = dir;
    this.#stored = sizesIn(dir);
  }

  async enter(name: string): Promise<UploadPlace> {
    this.#underWay += 1;
    let own = 0;
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      this.#arriving -= own;
      this.#underWay -= 1;
      if (this.#underWay === 0) rooms.delete(this.#dir);
    };
    try {
      const stored = await this.#stored;
      this.#assertRoom(stored, name);
      return {
        take: (bytes) => {
          own += bytes;
          this.#arriving += bytes;
          try {
            this.#assertRoom(stored, name);
          } catch (error) {
            // At once, so that it takes no room from those beside it while its file is being removed.
            leave();
            throw error;
          }
        },
        kept: () => void stored.set(name, own),
        leave,
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #assertRoom(stored: ReadonlyMap<string, number>, replaced: string): void {
    let bytes = this.#arriving - (stored.get(replaced) ?? 0);
    for (const size of stored.values()) bytes += size;
    const files = stored.size + this.#underWay - (stored.has(replaced) ? 1 : 0);
    if (bytes <= MAX_SESSION_UPLOAD_BYTES && files <= MAX_UPLOADS) return;
    const message = `The uploads of a session may have ${MAX_SESSION_UPLOAD_BYTES} bytes and ${MAX_UPLOADS} files together`;
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
