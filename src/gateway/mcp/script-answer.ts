import { buffer } from 'node:stream/consumers';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { inMinutes } from '../../agent-js/prompt/session-document.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
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

/** A larger picture is not sent; the session's artifacts have it. */
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
/** Nor are those of one answer beyond this together. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

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

/** Each picture and its name, in their order; `sent` are those that are there and not too large. */
async function withPictures(sessions: Sessions, id: string, pictures: readonly Picture[]) {
  const content: CallToolResult['content'] = [];
  const sent = new Set<string>();
  let bytes = 0;
  for (const { file, width, height } of pictures) {
    const png = bytes < MAX_ANSWER_BYTES ? await readPicture(sessions, id, file) : null;
    bytes += png?.length ?? 0;
    if (png !== null && bytes <= MAX_ANSWER_BYTES) {
      content.push({ type: 'image', data: png.toString('base64'), mimeType: 'image/png' });
      sent.add(file);
    }
    const where = sent.has(file) ? '' : ' (too large to send; it is in the artifacts)';
    content.push({ type: 'text', text: `${file}, ${width} x ${height}${where}` });
  }
  return { content, sent };
}

/** Null if the picture does not exist or is too large for an answer. */
async function readPicture(sessions: Sessions, id: string, file: string): Promise<Buffer | null> {
  try {
    const { bytes, stream } = await sessions.artifacts.screenshot(id, file);
    if (bytes <= MAX_PICTURE_BYTES) return await buffer(stream);
    stream.destroy();
    return null;
  } catch {
    return null;
  }
}
