import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import yauzl from 'yauzl';

/** Downloads a zip and opens it with another program's reader: the content of each entry by its name. */
export async function readZip(url: string): Promise<ReadonlyMap<string, Buffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const zip = await promisify((bytes: Buffer, done: (error: Error | null, file: yauzl.ZipFile) => void) =>
    yauzl.fromBuffer(bytes, { lazyEntries: true }, done),
  )(Buffer.from(await response.arrayBuffer()));
  const entries = new Map<string, Buffer>();
  const open = promisify(
    zip.openReadStream.bind(zip) as (
      entry: yauzl.Entry,
      done: (error: Error | null, stream: NodeJS.ReadableStream) => void,
    ) => void,
  );
  await new Promise<void>((resolve, reject) => {
    zip.on('end', resolve).on('error', reject);
    zip.on('entry', (entry: yauzl.Entry) => {
      open(entry)
        .then((stream) => buffer(stream))
        .then((content) => {
          entries.set(entry.fileName, content);
          zip.readEntry();
        })
        .catch(reject);
    });
    zip.readEntry();
  });
  return entries;
}
