import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { StoredBody } from './response.js';

/** What is kept in memory; a longer body goes to a file. */
const MEMORY_BYTES = 4 * 1024 * 1024;

export interface KeptBody {
  readonly body: StoredBody;
  readonly bytes: number;
  dispose(): Promise<void>;
}

/** Takes a body in, however long it is, with at most {@link MEMORY_BYTES} of it in memory. */
export async function keepBody(source: Readable, signal: AbortSignal): Promise<KeptBody> {
  const store = new BodyStore();
  try {
    await pipeline(source, store.sink, { signal });
    return await store.kept();
  } catch (error) {
    await store.dispose();
    throw error;
  }
}

class BodyStore {
  readonly sink: Writable;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #file: { readonly folder: string; readonly path: string; readonly stream: Writable } | null = null;

  constructor() {
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
    this.#file.stream.end();
    await finished(this.#file.stream);
    return { body: { kind: 'file', path: this.#file.path }, bytes: this.#bytes, dispose };
  }

  async dispose(): Promise<void> {
    this.#file?.stream.destroy();
    if (this.#file !== null) await rm(this.#file.folder, { recursive: true, force: true });
  }

  async #write(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#file === null && this.#bytes <= MEMORY_BYTES) {
      this.#chunks.push(chunk);
      return;
    }
    this.#file ??= await this.#openFile();
    const { stream } = this.#file;
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }

  async #openFile(): Promise<{ folder: string; path: string; stream: Writable }> {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-response-'));
    const path = join(folder, 'body');
    const stream = createWriteStream(path, { mode: 0o600 });
    // Writes report their own errors.
    stream.on('error', () => undefined);
    for (const chunk of this.#chunks.splice(0)) stream.write(chunk);
    return { folder, path, stream };
  }
}
