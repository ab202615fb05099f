import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import yauzl from 'yauzl';

/** A line of a trace; what a test expects of it is what it goes on to check. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type TraceLine = { readonly type: string; readonly [member: string]: any };

/** A trace as its viewer reads it. */
export interface ReadTrace {
  readonly lines: readonly TraceLine[];
  readonly network: readonly TraceLine[];
  readonly files: ReadonlyMap<string, Buffer>;
}

export async function readTrace(zip: Buffer | undefined): Promise<ReadTrace> {
  const files = await unzipped(zip ?? Buffer.alloc(0));
  const linesOf = (name: string): TraceLine[] =>
    String(files.get(name) ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { lines: linesOf('trace.trace'), network: linesOf('trace.network'), files };
}

/** The files of a zip by their names. */
export async function unzipped(bytes: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const zip = await promisify((given: Buffer, done: (error: Error | null, file: yauzl.ZipFile) => void) =>
    yauzl.fromBuffer(given, { lazyEntries: true }, done),
  )(bytes);
  const files = new Map<string, Buffer>();
  await new Promise<void>((resolve, reject) => {
    zip.on('end', resolve).on('error', reject);
    zip.on('entry', (entry: yauzl.Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error !== null) {
          reject(error);
          return;
        }
        buffer(stream).then((content) => {
          files.set(entry.fileName, content);
          zip.readEntry();
        }, reject);
      });
    });
    zip.readEntry();
  });
  return files;
}
