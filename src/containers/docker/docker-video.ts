import { Readable } from 'node:stream';
import type { DockerEngine } from './docker-engine.js';
import { outputOf } from './engine-streams.js';

const FRAMES_PER_SECOND = 5;

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
  const docker = await engine.docker({ signal });
  const order = { AttachStdout: true, AttachStderr: true, Cmd: ['sh', '-c', FFMPEG] };
  const exec = await docker.getContainer(containerId).exec(order);
  const frames = await exec.start({ Detach: false, Tty: false });
  return Readable.from(filmOf(frames), { objectMode: false });
}

async function* filmOf(frames: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer, void> {
  for await (const { source, bytes } of outputOf(frames)) if (source === 'stdout') yield bytes;
}
