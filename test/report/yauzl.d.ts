/** The part of yauzl 3 that the tests use; the package brings no types. */
declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  export interface Entry {
    readonly fileName: string;
    readonly compressionMethod: number;
    readonly uncompressedSize: number;
    readonly crc32: number;
  }
  export interface ZipFile {
    readonly entryCount: number;
    readEntry(): void;
    openReadStream(entry: Entry, callback: (error: Error | null, stream: Readable) => void): void;
    on(event: 'entry', listener: (entry: Entry) => void): this;
    on(event: 'end', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
  }
  export function fromBuffer(
    buffer: Buffer,
    options: { readonly lazyEntries: boolean },
    callback: (error: Error | null, zip: ZipFile) => void,
  ): void;
}
