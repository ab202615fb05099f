import { linesOf } from '../../base/lines.js';
import { TroupeError } from '../../protocol/errors.js';

/** The longest line of a stream of JSON lines. */
const MAX_LINE_CHARS = 1_048_576;
const HEADER_BYTES = 8;

/** A piece of what a program wrote. */
export interface Output {
  readonly source: 'stdout' | 'stderr';
  readonly bytes: Buffer;
}

/** A stream of JSON values, one a line, as events and progress come. Ends with the connection. @throws UNAVAILABLE */
export async function* valuesOf(stream: NodeJS.ReadableStream): AsyncGenerator<unknown, void> {
  for await (const line of linesOf(stream, { maxChars: MAX_LINE_CHARS })) {
    if (line === null) throw new TroupeError('UNAVAILABLE', 'The Docker engine sent an endless line');
    if (line.trim() !== '') yield JSON.parse(line);
  }
}

/**
 * What a program without a terminal wrote, out of the frames of exec, attach and logs: a header whose first byte is the
 * stream's number and whose last four are the length
 * (https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach). Takes the next
 * frame when this one has been taken, unlike docker-modem's `demuxStream`, which keeps whatever a slow reader leaves.
 */
export async function* outputOf(
  frames: AsyncIterable<Buffer | string> | Iterable<Buffer>,
): AsyncGenerator<Output, void> {
  let header: Buffer = Buffer.alloc(0);
  let left = 0;
  for await (const chunk of frames) {
    for (let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk; rest.length > 0; ) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < HEADER_BYTES) break;
        left = header.readUInt32BE(4);
        if (left === 0) header = Buffer.alloc(0);
        continue;
      }
      const bytes = rest.subarray(0, left);
      rest = rest.subarray(bytes.length);
      left -= bytes.length;
      yield { source: header[0] === 2 ? 'stderr' : 'stdout', bytes };
      if (left === 0) header = Buffer.alloc(0);
    }
  }
}
