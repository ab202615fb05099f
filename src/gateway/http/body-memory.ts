import { TroupeError } from '../../protocol/errors.js';

/** Memory for the bodies of all requests that are being received. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The first bytes of each body are not counted, so that long bodies never block short ones. */
const FREE_BYTES = 64 * 1024;

/** The part of that memory that one body uses. */
export interface BodyShare {
  /** Reserves memory. False if there is not enough; nothing is reserved then. */
  take(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
}

/** Limits the memory of all request bodies that are being received. */
export class BodyMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** A share for one body. Its owner releases it when the body is complete or refused. */
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
      release: () => {
        this.#bytes -= taken;
        taken = 0;
      },
    };
  }

  full(): TroupeError {
    return new TroupeError('UNAVAILABLE', 'Too many large requests are being received; send this one again later');
  }
}
