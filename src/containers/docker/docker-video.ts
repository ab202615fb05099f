import { Readable } from 'node:stream';
import { z } from 'zod';
import type { DockerEngine } from './docker-engine.js';

const FRAMES_PER_SECOND = 5;
const HEADER_BYTES = 8;
const STDOUT = 1;
const Exec = z.object({ Id: z.string() });

/**
 * Each frame is a fragment of its own and leaves at once, so that the file can be played up to wherever it breaks off. One
 * thread at the lowest priority: the browser goes before. Sizes of H.264 are even.
 */
const FFMPEG = [
  'exec nice -n 19 ffmpeg -nostdin -loglevel error -f x11grab -draw_mouse 0',
  `-framerate ${FRAMES_PER_SECOND} -i ":$(ls /tmp/.X11-unix | tr -dc 0-9)"`,
  '-vf "crop=trunc(iw/2)*2:trunc(ih/2)*2" -c:v libx264 -preset ultrafast -tune zerolatency -crf 28 -pix_fmt yuv420p',
  `-g ${FRAMES_PER_SECOND * 10} -threads 1 -movflags +frag_every_frame+empty_moov+default_base_moof -flush_packets 1`,
  '-f mp4 pipe:1',
].join(' ');

/** A container's desktop from now on, as mp4. Ends with the container, or by the signal. @throws UNAVAILABLE */
export async function recordDesktop(engine: DockerEngine, containerId: string, signal: AbortSignal): Promise<Readable> {
  const json = { AttachStdout: true, AttachStderr: true, Cmd: ['sh', '-c', FFMPEG] };
  const { Id } = await engine.json('POST', `/containers/${containerId}/exec`, Exec, { json, signal });
  const order = { json: { Detach: false, Tty: false }, signal };
  return Readable.from(outputOf(await engine.stream('POST', `/exec/${Id}/start`, order)), { objectMode: false });
}

/**
 * What a program wrote to its output, out of the engine's frames: a header whose first byte is the stream's number and
 * whose last four are the length (https://docs.docker.com/engine/api/v1.41/#tag/Container/operation/ContainerAttach).
 */
async function* outputOf(frames: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let header: Buffer = Buffer.alloc(0);
  let left = 0;
  for await (const chunk of frames) {
    for (let rest = chunk; rest.length > 0; ) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < HEADER_BYTES) break;
        left = header.readUInt32BE(4);
        continue;
      }
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      if (header[0] === STDOUT) yield part;
      if (left === 0) header = Buffer.alloc(0);
    }
  }
}
