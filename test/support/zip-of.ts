import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipArchive } from 'archiver';

/** A zip with these files, text by name. */
export async function zipOf(files: { readonly [name: string]: string }): Promise<Buffer<ArrayBuffer>> {
  const zip = new ZipArchive();
  for (const [name, text] of Object.entries(files))
    zip.append(Readable.from([Buffer.from(text)]), { name, date: new Date(0), mode: 0o644, store: false });
  const [bytes] = await Promise.all([buffer(zip), zip.finalize()]);
  return Buffer.from(bytes);
}
