import { randomInt } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs';
import { lstat, rename } from 'node:fs/promises';
import { Socket } from 'node:net';
import { z } from 'zod';
import { onAbort, pause } from '../../base/deadline.js';
import { asAbsent } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import type { DevToolsPipe } from '../driver.js';
import type { LeaseFolder } from './lease-folder.js';

/**
 * A browser's DevTools without a port: two FIFOs that it was started with as its descriptors 3 and 4 (Chromium's
 * `--remote-debugging-pipe`, messages ended by NUL). It holds both ends of each itself, so it outlives whoever is at the
 * other side, and who comes next opens the same two files. One at a time: what one reads no other sees.
 */

/**
 * Runs a program with FIFOs as descriptors 3 and 4, which are made at two paths; a file at a third says that they are open:
 * `sh -c EXEC_WITH_PIPES sh IN OUT READY PROGRAM ...`.
 */
export const EXEC_WITH_PIPES =
  'umask 077; mkfifo "$1" "$2" || exit 126; exec 3<>"$1" 4<>"$2"; : >"$3"; shift 3; exec "$@"';

const LOOK_EVERY_MS = 3;
/** An answer to a question about the version is 300 bytes; what stands before it may be what an earlier reader left. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;
const NUL = 0;

const Answer = z.object({ id: z.number(), sessionId: z.string().optional() });

/**
 * Takes the FIFOs that a starting browser was given out of the folder that it may write to, so that their names are the
 * service's. Waits until they are there. The caller's signal carries the deadline.
 * @throws UNAVAILABLE when something else is at their place
 */
export async function takePipes(folder: LeaseFolder, signal: AbortSignal): Promise<void> {
  while (!existsSync(folder.newPipesReady)) {
    signal.throwIfAborted();
    await pause(LOOK_EVERY_MS);
  }
  for (const [from, to] of [
    [folder.newPipeIn, folder.pipeIn],
    [folder.newPipeOut, folder.pipeOut],
  ] as const) {
    await rename(from, to);
    if (!(await lstat(to)).isFIFO()) throw new TroupeError('UNAVAILABLE', `${to} is not the FIFO that was made there`);
  }
}

/** Opens both for whoever talks to the browser next, on whatever thread. @throws WORKER_LOST when nothing is behind them; a fault of the system */
export function openPipe(folder: LeaseFolder): DevToolsPipe {
  const input = openFifo(folder.pipeIn, constants.O_WRONLY);
  try {
    const output = openFifo(folder.pipeOut, constants.O_RDONLY);
    return { kind: 'pipe', input, output, sessionsFile: folder.sessionsFile, taken: new SharedArrayBuffer(4) };
  } catch (cause) {
    closeSync(input);
    throw cause;
  }
}

/**
 * Makes the descriptors the caller's, who closes them from now on. False when they were given up meanwhile: then they are
 * closed. Descriptors belong to the process and not to a thread, so who closes them is decided in shared memory.
 */
export function takeDescriptors({ taken }: DevToolsPipe): boolean {
  return Atomics.compareExchange(new Int32Array(taken), 0, 0, 1) === 0;
}

/** Closes a pipe that was opened for somebody who never came. Nothing where somebody has taken it. Idempotent. */
export function giveUpPipe({ input, output, taken }: DevToolsPipe): void {
  if (Atomics.compareExchange(new Int32Array(taken), 0, 0, 2) !== 0) return;
  closeSync(input);
  closeSync(output);
}

/** Whether the browser answers. Nobody else may be reading meanwhile. The caller's signal carries the deadline. */
export async function answersAtPipe(folder: LeaseFolder, signal: AbortSignal): Promise<boolean> {
  let pipe: DevToolsPipe;
  try {
    signal.throwIfAborted();
    pipe = openPipe(folder);
  } catch (error) {
    return asAbsent(error) ?? false;
  }
  if (!takeDescriptors(pipe)) return false;
  const reading = new Socket({ fd: pipe.output, readable: true, writable: false });
  const writing = new Socket({ fd: pipe.input, readable: false, writable: true });
  const closed = Promise.all(
    [reading, writing].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
  );
  let forget = (): void => undefined;
  try {
    return await new Promise<boolean>((resolve) => {
      const id = randomInt(2 ** 31);
      const end = () => resolve(false);
      forget = onAbort(signal, end);
      reading.once('error', end).once('close', end);
      writing.once('error', end).once('close', end);
      readMessages(reading, (text) => isAnswer(text, id) && resolve(true), end);
      // The NUL first ends what somebody was killed over.
      writing.write(`\0${JSON.stringify({ id, method: 'Browser.getVersion' })}\0`);
    });
  } finally {
    forget();
    reading.destroy();
    writing.destroy();
    await closed;
  }
}

function readMessages(socket: Socket, onMessage: (text: string) => void, onTooMuch: () => void): void {
  let waiting: Buffer[] = [];
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_UNREAD_BYTES) return onTooMuch();
    let rest = chunk;
    for (let end = rest.indexOf(NUL); end !== -1; end = rest.indexOf(NUL)) {
      // An answer of ours is short and comes in one piece; what is longer belonged to somebody else.
      if (waiting.length === 0) onMessage(rest.toString('utf8', 0, end));
      else onMessage(Buffer.concat([...waiting, rest.subarray(0, end)]).toString('utf8'));
      waiting = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) waiting.push(rest);
  });
}

function isAnswer(text: string, id: number): boolean {
  if (text.length > 4096) return false;
  try {
    const answer = Answer.parse(JSON.parse(text));
    return answer.id === id && answer.sessionId === undefined;
  } catch {
    return false;
  }
}

function openFifo(path: string, mode: number): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, mode | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (cause) {
    asAbsent(cause);
    throw new TroupeError(
      'WORKER_LOST',
      'The browser of the session is gone: nothing reads its pipe',
      { path },
      { cause },
    );
  }
  if (fstatSync(descriptor).isFIFO()) return descriptor;
  closeSync(descriptor);
  throw new TroupeError('WORKER_LOST', `The browser of the session is gone: ${path} is not a FIFO`);
}
