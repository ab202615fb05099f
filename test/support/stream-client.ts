import { once } from 'node:events';
import { unpack } from 'msgpackr';
import { WebSocket } from 'ws';
import { limitSignal, stretched } from '#troupe/base/deadline.js';
import type { StreamMessage, StreamRequest } from '#troupe/protocol/stream.js';

type MessageOf<T extends StreamMessage['type']> = StreamMessage & { readonly type: T };

/** A page's connection to `/api/stream`: keeps all that it was sent. */
export class StreamClient {
  readonly messages: StreamMessage[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  #wake: (() => void) | null = null;

  private constructor(url: string, headers: { [name: string]: string }) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/api/stream`, { headers });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code) => {
        resolve(code);
        this.#wake?.();
      });
    });
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(unpack(data));
      this.#wake?.();
    });
  }

  /** @throws what the server answered instead: `Unexpected server response: 403` */
  static async open(url: string, headers: { [name: string]: string } = {}): Promise<StreamClient> {
    const client = new StreamClient(url, headers);
    await once(client.socket, 'open', { signal: limitSignal(60_000) });
    return client;
  }

  ask(request: StreamRequest): void {
    this.socket.send(JSON.stringify(request));
  }

  of<T extends StreamMessage['type']>(type: T): MessageOf<T>[] {
    return this.messages.filter((message): message is MessageOf<T> => message.type === type);
  }

  /** The numbers of the events that came. */
  seqs(): number[] {
    return this.of('events').flatMap(({ events }) => events.map(({ seq }) => seq));
  }

  /** Settles when it holds; rejects after a minute, or when the connection is over. */
  async until(holds: (client: this) => boolean): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake?.();
    }, stretched(60_000));
    try {
      while (!holds(this)) {
        if (late) throw new Error(`Not in time: ${holds}; ${this.messages.length} messages came`);
        if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`The connection is over: ${holds}`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}
