import { buffer } from 'node:stream/consumers';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { inMinutes } from '../../agent-js/prompt/session-document.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { isThreadError } from '../../threads/thread-end.js';
import { MAX_PICTURES_CHARS } from './answer-size.js';
import { scalePicture } from './picture-scaler.js';
import {
  failureResult,
  type KnownPage,
  type Picture,
  pageOf,
  pictureOf,
  resultText,
  withConsole,
} from './result-content.js';
import { watchScript } from './watch-script.js';

/** Pictures of one answer; further ones are named. */
const MAX_PICTURES = 10;
/** A longer side is scaled to this: models refuse a conversation with many pictures if one has a longer side. */
const MAX_SIDE = 2_000;
/** A larger picture is scaled: it is 5 MiB in Base64, and models refuse more. */
const MAX_PICTURE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4) - 3;
/** A larger one is left to the artifacts. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** From so long before its end on, each answer says when the session ends. */
const LAST_MINUTES_MS = 5 * 60_000;

/** What the client's last result named. */
export interface LastReport {
  readonly id: string;
  readonly page: KnownPage;
}

/** How a script is run for a client. */
export interface ScriptCall {
  readonly sessions: Sessions;
  readonly id: string;
  readonly js: string;
  readonly signal: AbortSignal;
  /** The page that the client knows already; it is not repeated. */
  readonly known?: LastReport | undefined;
  /** Called with the page that the answer names. */
  readonly onPage?: ((report: LastReport) => void) | undefined;
  /** Says how to go on after a failure, if there is more to say than the error does. */
  readonly advise: () => Promise<string | undefined>;
}

/**
 * Runs a script and makes a tool result of what it returned, wrote and photographed; a failed script is a result, too.
 * @throws the signal's reason
 */
export async function answerScript(call: ScriptCall): Promise<CallToolResult> {
  const { sessions, id, js, signal } = call;
  const left = watchScript(sessions, id, js);
  try {
    const json = await sessions.runScript(id, js, signal, { onDisconnect: 'stop' });
    const answer = withConsole(await successResult(call, json, await left.pictures()), await left.text());
    return announceEnd(sessions, id, answer);
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = failureResult(error, await call.advise());
    const { content } = await withPictures(sessions, id, await left.pictures());
    return withConsole({ ...failure, content: [...content, ...failure.content] }, await left.text());
  } finally {
    left.stop();
  }
}

async function successResult(call: ScriptCall, json: string, taken: readonly Picture[]): Promise<CallToolResult> {
  const { sessions, id, known, onPage } = call;
  const value: unknown = JSON.parse(json);
  const picture = pictureOf(value);
  const isTaken = picture !== null && taken.some(({ file }) => file === picture.file);
  const pictures = picture === null || isTaken ? taken : [...taken, picture];
  const { content, sent } = await withPictures(sessions, id, pictures);
  // A picture says more than its name.
  if (picture !== null && sent.has(picture.file)) return { content };
  const text = resultText(value, known?.id === id ? known.page : undefined);
  const page = pageOf(value);
  if (page !== undefined) onPage?.({ id, page });
  return { content: [...content, { type: 'text', text }] };
}

/** Says that the session's time is nearly over, while there is time to finish. */
function announceEnd(sessions: Sessions, id: string, result: CallToolResult): CallToolResult {
  const { hardMs } = sessions.timeLeft(id) ?? { hardMs: Number.POSITIVE_INFINITY };
  if (hardMs > LAST_MINUTES_MS) return result;
  const text = `This browser session ends in ${inMinutes(hardMs)}: finish, and keep what you need`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

/** Each picture and its name, in their order; `sent` are those that the answer has. What it does not have is named, with the way to it. */
async function withPictures(sessions: Sessions, id: string, pictures: readonly Picture[]) {
  const content: CallToolResult['content'] = [];
  const sent = new Set<string>();
  let chars = 0;
  for (const [index, picture] of pictures.entries()) {
    const { file, width, height } = picture;
    const name = `${file}, ${width} x ${height}`;
    const read = index < MAX_PICTURES && chars < MAX_PICTURES_CHARS ? await readPicture(sessions, id, picture) : null;
    const left = MAX_PICTURES_CHARS - chars;
    if (read !== null && 'why' in read) content.push({ type: 'text', text: `${name} (not sent: ${read.why})` });
    else if (read === null || read.data.length > left) {
      const again = JSON.stringify({ file, width, height });
      const text = `${name} (not sent: the answer would be too large; to get it, return ${again} from another script)`;
      content.push({ type: 'text', text });
    } else {
      chars += read.data.length;
      sent.add(file);
      content.push(
        { type: 'image', data: read.data, mimeType: 'image/png' },
        { type: 'text', text: read.name ?? name },
      );
    }
  }
  return { content, sent };
}

interface ReadPicture {
  /** In Base64. */
  readonly data: string;
  /** Says what it is, if it was scaled. */
  readonly name?: string;
}

/** A picture as models take it: scaled down if its sides are too long, or it has too many bytes. */
async function readPicture(
  sessions: Sessions,
  id: string,
  { file, width, height }: Picture,
): Promise<ReadPicture | { readonly why: string }> {
  const inArtifacts = 'it is in the artifacts of the session';
  try {
    const { bytes, stream } = await sessions.artifacts.screenshot(id, file);
    if (bytes > MAX_READ_BYTES) {
      stream.destroy();
      return { why: `too large to read; ${inArtifacts}` };
    }
    const png = await buffer(stream);
    // On a screen with a higher density, it has more pixels than its name says.
    const side = png.length < 24 ? 0 : Math.max(png.readUInt32BE(16), png.readUInt32BE(20));
    if (Math.max(width, height, side) <= MAX_SIDE && bytes <= MAX_PICTURE_BYTES)
      return { data: png.toString('base64') };
    const small = await scalePicture({ png, maxSide: MAX_SIDE, maxBytes: MAX_PICTURE_BYTES }).catch(
      (error: unknown) => ({ failure: isThreadError(error) ? ` (${sentenceOf(error)})` : '' }),
    );
    if ('failure' in small) {
      return { why: `it cannot be scaled to ${MAX_SIDE} pixels${small.failure}; ${inArtifacts}` };
    }
    const scaled = `scaled from ${width} x ${height}; agent.screenshot({within}) takes a part in full size`;
    const data = Buffer.from(small.png).toString('base64');
    return { data, name: `${file}, ${small.width} x ${small.height} (${scaled})` };
  } catch {
    return { why: 'there is no such picture' };
  }
}
