import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Teardown } from './service.js';

/** A request as the model server received it. */
export interface ModelRequest {
  readonly body: {
    readonly model: string;
    readonly stream: boolean;
    readonly stream_options?: { readonly include_usage: boolean };
    readonly tools: readonly { readonly function: { readonly name: string } }[];
    readonly messages: readonly ModelMessage[];
  };
  /** The body as it came over the wire. */
  readonly text: string;
  readonly authorization: string | undefined;
  readonly at: number;
}

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

/** What the scripted model does with one request. */
export type Turn =
  | {
      readonly kind: 'answer';
      readonly text?: string;
      readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
      readonly refusal?: string;
      readonly finish?: string;
    }
  | { readonly kind: 'status'; readonly status: number; readonly message?: string; readonly retryAfter?: string }
  /** The connection ends in the middle of an answer that was going to call a tool. */
  | { readonly kind: 'cut' }
  /** One token, and then nothing more for as long as the client waits. */
  | { readonly kind: 'hang' }
  /** A token every so many milliseconds, without end. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** An event whose data is no JSON. */
  | { readonly kind: 'garbage' }
  /** Text as fast as it can be taken, without end. */
  | { readonly kind: 'endless' };

/** Turns in their order; or what to do with a request, when the answer depends on what the model was told. */
export type ModelScript = readonly Turn[] | ((request: ModelRequest, index: number) => Turn | Promise<Turn>);

/** A scripted model behind a real server. */
export interface ModelServer {
  readonly baseURL: string;
  /** In order of arrival. */
  readonly requests: readonly ModelRequest[];
  /** Answers that were given up by their client. */
  readonly abandoned: number;
}

export const evaluate = (js: string): Turn => call('agent_eval', { js });
export const done = (success: boolean, summary: string): Turn => call('done', { success, summary });
export const says = (text: string): Turn => ({ kind: 'answer', text });
export const call = (name: string, args: object | string): Turn => ({
  kind: 'answer',
  calls: [{ name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }],
});

/** Characters of one delta. */
const PIECE = 7;

/**
 * Starts a server that speaks the chat completions wire format: HTTP, server-sent events, tool calls in deltas, usage.
 * Its tokens are characters by four; what a request has in common with the beginning of an earlier one counts as cached.
 *
 * @param options.apiKey answers 401 to any other
 * @param options.refuses a request member that it answers 422 to, as strict servers do
 */
export async function startModelServer(
  t: Teardown,
  script: ModelScript,
  options: { readonly apiKey?: string; readonly refuses?: string } = {},
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let turns = 0;
  let abandoned = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await bodyOf(request);
    if (request.url !== '/v1/chat/completions') return refuse(response, 404, `There is no ${request.url}`);
    const received = { body: JSON.parse(text), text, authorization: request.headers.authorization, at: Date.now() };
    if (options.apiKey !== undefined && received.authorization !== `Bearer ${options.apiKey}`) {
      return refuse(response, 401, 'Incorrect API key provided');
    }
    if (options.refuses !== undefined && options.refuses in received.body) {
      return refuse(response, 422, `${options.refuses}: Extra inputs are not permitted`);
    }
    const earlier = requests.map((one) => one.text);
    requests.push(received);
    const index = turns++;
    const turn = typeof script === 'function' ? await script(received, index) : script[index];
    if (turn === undefined) return refuse(response, 500, 'The script of this model is over');
    return act(turn, response, { received, earlier });
  };
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    get abandoned() {
      return abandoned;
    },
  };
}

async function act(
  turn: Turn,
  response: ServerResponse,
  { received, earlier }: { received: ModelRequest; earlier: readonly string[] },
): Promise<void> {
  if (turn.kind === 'status') {
    return refuse(response, turn.status, turn.message ?? `Refused with ${turn.status}`, turn.retryAfter);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: unknown) => response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  const chunk = (delta: object, finish: string | null = null) =>
    send({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: received.body.model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  chunk({ role: 'assistant', content: '' });
  switch (turn.kind) {
    case 'answer': {
      const length = writeAnswer(turn, chunk);
      if (received.body.stream_options?.include_usage) send(usageChunk(received, earlier, length));
      send('[DONE]');
      response.end();
      return;
    }
    case 'cut':
      chunk({
        tool_calls: [{ index: 0, id: 'cut', type: 'function', function: { name: 'agent_eval', arguments: '{"' } }],
      });
      await delay(10);
      response.destroy();
      return;
    case 'garbage':
      send('{"choices": [');
      response.end();
      return;
    case 'hang':
      return;
    case 'drip':
      for (; !response.destroyed; await delay(turn.everyMs)) chunk({ content: 'drop ' });
      return;
    case 'endless':
      for (; !response.destroyed; await delay(1)) for (let n = 0; n < 50; n++) chunk({ content: 'and so on, ' });
  }
}

/** Answers how many characters the model wrote. */
function writeAnswer(turn: Extract<Turn, { kind: 'answer' }>, chunk: (delta: object, finish?: string) => void): number {
  const calls = turn.calls ?? [];
  for (const piece of pieces(turn.text ?? '')) chunk({ content: piece });
  if (turn.refusal !== undefined) for (const piece of pieces(turn.refusal)) chunk({ refusal: piece });
  calls.forEach(({ name, arguments: text }, index) => {
    const id = `call_${name}_${index}`;
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of pieces(text)) chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  chunk({}, turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'));
  return (turn.text ?? turn.refusal ?? '').length + calls.reduce((sum, one) => sum + one.arguments.length, 0);
}

function usageChunk({ body, text }: ModelRequest, earlier: readonly string[], written: number): object {
  const cached = Math.max(0, ...earlier.map((one) => commonPrefix(one, text)));
  const tokens = (characters: number) => Math.ceil(characters / 4);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: body.model,
    choices: [],
    usage: {
      prompt_tokens: tokens(text.length),
      completion_tokens: tokens(written),
      total_tokens: tokens(text.length) + tokens(written),
      prompt_tokens_details: { cached_tokens: tokens(cached) },
    },
  };
}

function commonPrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function pieces(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${PIECE}}`, 'g')) ?? [];
}

function refuse(response: ServerResponse, status: number, message: string, retryAfter?: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  });
  response.end(JSON.stringify({ error: { message, type: 'scripted', code: null } }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
