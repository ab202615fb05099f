import type { Readable } from 'node:stream';

/** The longest line, in bytes: the service takes no longer message. */
const MAX_LINE = 2 * 1024 * 1024;

/**
 * The lines of a stream, until its end. A line that is too long is null.
 * @throws what broke the stream
 */
export async function* readLines(input: Readable): AsyncGenerator<string | null, void> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const end = (): string | null | undefined => {
    const line = bytes > MAX_LINE ? null : Buffer.concat(pieces).toString('utf8').trim();
    [pieces, bytes] = [[], 0];
    return line === '' ? undefined : line;
  };
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      pieces.push(rest.subarray(0, at));
      bytes += at;
      const line = end();
      if (line !== undefined) yield line;
      rest = rest.subarray(at + 1);
    }
    bytes += rest.length;
    if (bytes <= MAX_LINE) pieces.push(rest);
    else pieces = [];
  }
  const line = end();
  if (line !== undefined) yield line;
}
