import type { ErrorBody } from '../../../src/protocol/errors.js';
import type { ProgressLine } from '../../../src/protocol/request-window.js';

/** The secret of this start comes behind the `#`, and is kept for reloads of this tab alone. */
const KEPT_AS = 'troupe-requests';
const secret = takeSecret();

function takeSecret(): string {
  const given = location.hash.slice(1);
  if (given === '') return sessionStorage.getItem(KEPT_AS) ?? '';
  sessionStorage.setItem(KEPT_AS, given);
  history.replaceState(null, '', location.pathname);
  return given;
}

/** What the client says when it does not do something. */
export class ClientError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.error);
    this.body = body;
  }
}

async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(`/api/${path}`, {
    method,
    headers: { Authorization: `Bearer ${secret}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ClientError({ error: 'The client has ended; start troupe requests again', code: 'UNAVAILABLE' });
  });
  if (!answer.ok) throw new ClientError(await answer.json());
  return answer;
}

/** @throws ClientError */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  return await (await ask(method, path, body)).json();
}

/** The bytes of an answer, for pictures and for saving. */
export async function bodyOf(sentId: string): Promise<Blob> {
  return await (await ask('GET', `history/${sentId}/body`)).blob();
}

/** Lines as they come, until the client is done or `signal` cancels. */
export async function* follow(path: string, signal: AbortSignal): AsyncGenerator<ProgressLine> {
  const { body } = await ask('POST', path, undefined, signal);
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
