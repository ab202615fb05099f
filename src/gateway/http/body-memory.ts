import { TroupeError } from '../../protocol/errors.js';

/** The bodies of all requests, while they are being received, may have so many bytes in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/** So much of each body is always taken, so that long bodies never keep short ones out. */
const FREE_BYTES = 64 * 1024;

/** What one body takes of it. */
export interface BodyShare {
  /** False where there is no room for that; nothing more is taken then. */
  take(bytes: number): boolean;
  /** Idempotent. */
  giveBack(): void;
}

/** Bounds the memory of all request bodies that are being received. */
export class BodyMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Its owner gives it back when the body is whole or refused. */
  share(): BodyShare {
    let seen = 0;
    let taken = 0;
    return {
      take: (bytes) => {
        seen += bytes;
        const more = Math.max(0, seen - FREE_BYTES) - taken;
        if (more > 0 && this.#bytes + more > this.#maxBytes) return false;
        this.#bytes += more;
        taken += more;
        return true;
      },
      giveBack: () => {
        this.#bytes -= taken;
        taken = 0;
      },
    };
  }

  full(): TroupeError {
    return new TroupeError('UNAVAILABLE', 'Too many large requests are being received; send this one again later');
  }
}
