import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { StoredBody } from './response.js';

/** Bytes kept in memory; a longer body goes to a file. */
const MEMORY_BYTES = 4 * 1024 * 1024;

export interface KeptBody {
  readonly body: StoredBody;
  readonly bytes: number;
  dispose(): Promise<void>;
}

/**
 * Reads a body, with at most {@link MEMORY_BYTES} of it in memory. If it fails, nothing of the body is left.
 * @throws REQUEST_FAILED as soon as the body exceeds `maxBytes`; the source is not read any further
 */
export async function keepBody(source: Readable, maxBytes: number, signal: AbortSignal): Promise<KeptBody> {
  const store = new BodyStore(maxBytes);
  try {
    await pipeline(source, store.sink, { signal });
    return await store.kept();
  } catch (error) {
    await store.dispose();
    throw error;
  }
}

interface BodyFile {
  readonly folder: string;
  readonly path: string;
  readonly stream: Writable;
}

class BodyStore {
  readonly sink: Writable;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #file: Promise<BodyFile> | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#write(chunk).then(() => done(), done);
      },
    });
  }

  async kept(): Promise<KeptBody> {
    const dispose = (): Promise<void> => this.dispose();
    if (this.#file === null) {
      return { body: { kind: 'memory', bytes: Buffer.concat(this.#chunks) }, bytes: this.#bytes, dispose };
    }
    const { stream, path } = await this.#file;
    stream.end();
    await finished(stream);
    return { body: { kind: 'file', path }, bytes: this.#bytes, dispose };
  }

  async dispose(): Promise<void> {
    // A file that is still being created must be removed too.
    const file = await this.#file?.catch(() => null);
    if (file === null || file === undefined) return;
    file.stream.destroy();
    if (!file.stream.closed) await new Promise((resolve) => file.stream.once('close', resolve));
    await rm(file.folder, { recursive: true, force: true });
  }

  async #write(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      throw new TroupeError('REQUEST_FAILED', `The answer has more than ${this.#maxBytes} bytes, which is the limit`, {
        cause: 'TOO_LARGE',
        maxBytes: this.#maxBytes,
      });
    }
    if (this.#file === null && this.#bytes <= MEMORY_BYTES) {
      this.#chunks.push(chunk);
      return;
    }
    this.#file ??= this.#openFile();
    const { stream } = await this.#file;
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }

  async #openFile(): Promise<BodyFile> {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-response-'));
    const path = join(folder, 'body');
    const stream = createWriteStream(path, { mode: 0o600 });
    // Writes report their own errors.
    stream.on('error', () => undefined);
    for (const chunk of this.#chunks.splice(0)) stream.write(chunk);
    return { folder, path, stream };
  }
}
