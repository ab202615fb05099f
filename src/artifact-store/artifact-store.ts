import type { Readable } from 'node:stream';

/** Where the artifacts of ended sessions are kept. Contains secrets. */
export type StoreSetting =
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Another server than Amazon's. */
      readonly endpoint: string | undefined;
      readonly region: string;
      /** '' or a text that ends with a slash. */
      readonly prefix: string;
      readonly keys: {
        readonly accessKeyId: string;
        readonly secretAccessKey: string;
        readonly sessionToken?: string;
      };
    };

/** An artifact's session, and its path in the session's zip. */
export interface ArtifactPlace {
  readonly session: string;
  readonly path: string;
}

export interface StoredArtifact {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** An artifact of which a part can be read. The caller must call `open` or `close`, once. */
export interface OpenStored extends Omit<StoredArtifact, 'path'> {
  /** Streams bytes, both ends included; all if omitted. Destroying the stream releases everything. */
  open(range?: { readonly start: number; readonly end: number }): Readable;
  close(): Promise<void>;
}

/**
 * The artifacts of ended sessions outside of the home. An artifact is there as a whole or not at all. Errors are
 * UNAVAILABLE with the remedy.
 */
export interface ArtifactStore {
  /** For people: which store it is. */
  readonly description: string;
  /**
   * Stores an artifact, in place of one with the same path. Reads the content to its end, or destroys it.
   * When it rejects, nothing of it is under way any more, so that what is removed afterwards stays removed.
   * @throws the content's error, also if it has not `bytes` bytes; the signal's reason
   */
  put(
    place: ArtifactPlace,
    content: Readable,
    options: { readonly bytes: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Of one session, by path. */
  list(session: string): Promise<readonly StoredArtifact[]>;
  /** Null if there is none. */
  open(place: ArtifactPlace): Promise<OpenStored | null>;
  /** Removes all artifacts of a session, and what interrupted uploads left of them. */
  remove(session: string): Promise<void>;
  /** Removes what interrupted uploads of a session left. It ends uploads in progress too. */
  dropUnfinished(session: string): Promise<void>;
  /** Writes, reads and removes a small file. */
  check(): Promise<void>;
}

/** Whether the path may be one of an artifact: plain segments, none hidden. */
export function isArtifactPath(path: string): boolean {
  return path.length <= 4000 && !/[\\\p{Cc}]/u.test(path) && path.split('/').every((part) => /^[^.]/.test(part));
}

/**
 * Passes a content on, and fails if it has not as many bytes as announced: a file that was cut off must not look complete.
 * @param failed gets the error too: what reads the stream may hide it
 */
export async function* exactly(
  content: AsyncIterable<Uint8Array | string>,
  bytes: number,
  failed: (error: unknown) => void = () => undefined,
): AsyncGenerator<Buffer, void> {
  let seen = 0;
  try {
    for await (const chunk of content) {
      const buffer: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      seen += buffer.byteLength;
      if (seen > bytes) break;
      yield buffer;
    }
    if (seen !== bytes) throw new Error(`There are not the ${bytes} bytes that were announced`);
  } catch (error) {
    failed(error);
    throw error;
  }
}
