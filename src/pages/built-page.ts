import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';

/** A file of a page, ready to be sent. */
export interface PageFile {
  readonly contentType: string;
  readonly plain: Buffer;
  /** Null if it would not be shorter. */
  readonly gzip: Buffer | null;
  /** Its name changes with its content, so clients may cache it permanently. */
  readonly immutable: boolean;
}

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The build packs files with Brotli, which keeps the package small. */
const PACKED = '.br';

/**
 * A built page of web/, in memory (2 MB at most): `index.html` and the files in `assets/`, by name. Read once, at the
 * first request, which fails if the page was not built.
 */
export class BuiltPage {
  readonly #dir: string;
  #files: ReadonlyMap<string, PageFile> | null = null;

  /** @param dir the absolute path of the build output */
  constructor(dir: string) {
    this.#dir = dir;
  }

  find(name: string): PageFile | undefined {
    this.#files ??= this.#read();
    return this.#files.get(name);
  }

  #read(): ReadonlyMap<string, PageFile> {
    const files = new Map<string, PageFile>();
    for (const [folder, immutable] of [
      ['.', false],
      ['assets', true],
    ] as const) {
      const dir = join(this.#dir, folder);
      for (const entry of readdirSync(dir, { withFileTypes: true })) {
        const name = basename(entry.name, PACKED);
        const contentType = TYPES[extname(name)];
        if (!entry.isFile() || contentType === undefined) continue;
        const read = readFileSync(join(dir, entry.name));
        const plain = name === entry.name ? read : brotliDecompressSync(read);
        const gzip = gzipSync(plain, { level: 9 });
        files.set(join(folder, name), {
          contentType,
          plain,
          gzip: gzip.length < plain.length ? gzip : null,
          immutable,
        });
      }
    }
    return files;
  }
}
