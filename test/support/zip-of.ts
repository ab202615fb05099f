import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openArchive } from '#troupe/report/archive.js';

/** A zip with these files, text by name. */
export async function zipOf(files: { readonly [name: string]: string }): Promise<Buffer<ArrayBuffer>> {
  const entries = Object.entries(files).map(([name, text]) => ({
    name,
    open: async () => ({ content: Readable.from([Buffer.from(text)]), modifiedAt: new Date(0) }),
  }));
  return Buffer.from(await buffer(openArchive([{ files: async () => entries }])));
}
