/** The part of archiver 8 that is used here; the package has no types. */
declare module 'archiver' {
  import type { Readable } from 'node:stream';
  import { Transform } from 'node:stream';

  export class ZipArchive extends Transform {
    constructor(options?: { readonly zlib?: { readonly level: number } });
    /** `entry` is emitted when the source has been read completely. Errors of a source are not reported. */
    append(
      source: Readable,
      data: { readonly name: string; readonly date: Date; readonly mode: number; readonly store: boolean },
    ): this;
    finalize(): Promise<void>;
  }

  export class TarArchive extends Transform {
    append(source: Buffer, data: { readonly name: string; readonly date: Date; readonly mode: number }): this;
    finalize(): Promise<void>;
  }
}
