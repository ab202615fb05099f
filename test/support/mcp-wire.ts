import { EventEmitter, once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { limitSignal } from '#troupe/base/deadline.js';

/** A message of a stream; `data` is null for the event that only gives an id. */
export interface WireMessage {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it goes on to check
  readonly data: any;
}

export interface WireCall {
  readonly method?: 'POST' | 'GET' | 'DELETE';
  /** Text goes as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

const DEADLINE_MS = 60_000;
const ACCEPT = 'application/json, text/event-stream';

/** An answer of `/mcp` as it comes over the wire: a stream of messages, or text that says what was wrong. */
export class McpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly messages: WireMessage[] = [];
  comments = 0;
  text = '';
  ended = false;
  readonly #request: ClientRequest;
  readonly #news = new EventEmitter();
  #rest = '';

  /** Sends a request on a connection of its own; settles with the head of the answer. */
  static async to(url: string, { method = 'POST', body, headers = {} }: WireCall): Promise<McpAnswer> {
    const sent = request(new URL('/mcp', url), { method, headers: { accept: ACCEPT, ...headers }, agent: false });
    sent.on('error', () => undefined);
    sent.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
    const [response] = await once(sent, 'response', { signal: limitSignal(DEADLINE_MS) });
    return new McpAnswer(sent, response);
  }

  /** The same, with all of the answer. */
  static async whole(url: string, call: WireCall): Promise<McpAnswer> {
    const answer = await McpAnswer.to(url, call);
    await answer.until(({ ended }) => ended);
    return answer;
  }

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (text: string) => this.#take(text));
    response.on('close', () => {
      this.ended = true;
      this.#news.emit('news');
    });
  }

  /** The answer to a request among the messages. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer is what it goes on to check
  answerTo(id: number | string): any {
    return this.messages.find(({ data }) => data?.id === id)?.data;
  }

  /** Settles when `true` is answered; asked after each piece of news. Rejects after 60 s. */
  async until(reached: (answer: McpAnswer) => boolean): Promise<void> {
    const signal = limitSignal(DEADLINE_MS);
    while (!reached(this)) await once(this.#news, 'news', { signal });
  }

  /** Cuts the connection. */
  cut(): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    this.text += text;
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      this.#frame(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
    }
    this.#news.emit('news');
  }

  #frame(frame: string): void {
    if (frame.startsWith(':')) this.comments += 1;
    const [, id] = /^id: (.*)$/m.exec(frame) ?? [];
    const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
    if (data !== undefined) this.messages.push({ id: id ?? '', data: data === '' ? null : JSON.parse(data) });
  }
}
