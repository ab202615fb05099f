import type { ErrorBody } from '#troupe/protocol/errors.js';
import type { ProgressLine } from '../../protocol/request-window.js';
import { connection } from './connection.svelte.js';

/** An error that the client returned. */
export class ClientError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.error);
    this.body = body;
  }
}

/** Kept for reloads of this tab only. */
const KEPT_AS = 'troupe-requests';
let entering: Promise<string> | null = null;

/** Exchanges the key after the `#` for the secret of this start when the window opens. */
async function enter(): Promise<string> {
  const key = location.hash.slice(1);
  if (key === '') return sessionStorage.getItem(KEPT_AS) ?? '';
  history.replaceState(null, '', location.pathname);
  const answer = await fetch('/api/enter', { method: 'POST', body: JSON.stringify({ key }) });
  if (!answer.ok) throw new ClientError(await answer.json());
  const { secret } = await answer.json();
  sessionStorage.setItem(KEPT_AS, secret);
  return secret;
}

async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  entering ??= enter();
  const secret = await entering;
  const answer = await fetch(`/api/${path}`, {
    method,
    headers: { Authorization: `Bearer ${secret}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    connection.lost = true;
    throw new ClientError({
      error: 'The request client has stopped; start troupe requests again',
      code: 'UNAVAILABLE',
    });
  });
  if (!answer.ok) throw new ClientError(await answer.json());
  return answer;
}

/** @throws ClientError */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  return await (await ask(method, path, body)).json();
}

/** The bytes of an answer, for pictures. */
export async function bodyOf(sentId: string): Promise<Blob> {
  return await (await ask('GET', `history/${sentId}/body`)).blob();
}

/** Lines of progress, until the client is done or `signal` cancels. */
export async function* follow(path: string, signal: AbortSignal, sent?: unknown): AsyncGenerator<ProgressLine> {
  const { body } = await ask('POST', path, sent, signal);
  if (body === null) return;
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
