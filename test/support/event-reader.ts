import { EventEmitter, once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { limitSignal } from '#troupe/base/deadline.js';

export interface ReadEvent {
  readonly id: number;
  readonly type: string;
  readonly data: unknown;
}

const DEADLINE_MS = 60_000;

/** A reader of server-sent events on a connection of its own. */
export class EventReader {
  readonly status: number;
  readonly events: ReadEvent[] = [];
  comments = 0;
  ended = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #news = new EventEmitter();
  #rest = '';

  private constructor(sent: ClientRequest, response: IncomingMessage, reading: boolean) {
    this.#request = sent;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('close', () => {
      this.ended = true;
      this.#news.emit('news');
    });
    if (reading) this.resume();
  }

  /**
   * @param options.reading false: takes nothing from the connection until `resume`
   * @param options.from the address of this machine that it comes from
   */
  static async open(
    url: string,
    path: string,
    options: { readonly after?: number | undefined; readonly reading?: boolean; readonly from?: string } = {},
  ): Promise<EventReader> {
    const headers = options.after === undefined ? {} : { 'last-event-id': String(options.after) };
    const sent = request(new URL(path, url), { headers, agent: false, localAddress: options.from });
    sent.on('error', () => undefined);
    sent.end();
    const [response] = await once(sent, 'response', { signal: limitSignal(DEADLINE_MS) });
    return new EventReader(sent, response, options.reading ?? true);
  }

  resume(): void {
    this.#response.on('data', (text: string) => this.#take(text));
  }

  /** Settles when `true` is answered; asked after each piece of news. Rejects after 60 s. */
  async until(reached: (reader: EventReader) => boolean): Promise<void> {
    const signal = limitSignal(DEADLINE_MS);
    while (!reached(this)) await once(this.#news, 'news', { signal });
  }

  get lastId(): number | undefined {
    return this.events.at(-1)?.id;
  }

  /** Cuts the connection. */
  cut(): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      this.#frame(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
    }
    this.#news.emit('news');
  }

  #frame(frame: string): void {
    const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    if (data === undefined) this.comments += frame.startsWith(':') ? 1 : 0;
    else this.events.push({ id: Number(id), type: type ?? '', data: JSON.parse(data) });
  }
}
