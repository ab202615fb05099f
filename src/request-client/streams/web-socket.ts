import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import WebSocket, { type RawData } from 'ws';
import { deferred } from '../../base/deferred.js';
import { TroupeError } from '../../protocol/errors.js';
import { type LiveHead, type LiveMessage, MAX_SHOWN_CHARS } from '../../protocol/requests/live-streams.js';
import { type Answer, headerEntries, toWire, type WireRequest } from '../connection/answer.js';
import type { HeaderEntry } from '../request.js';
import { headerValues } from '../run/response.js';
import type { LiveWatcher } from './live-watcher.js';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Messages that wait for the watcher; then no more are read. */
const MAX_WAITING = 1_000;
/** How long the server may take to close, in milliseconds. */
const CLOSE_MS = 2_000;
/** What the library says itself in a handshake. */
const OWN_HEADERS = /^(?:connection|upgrade|sec-websocket-(?:key|version|extensions|protocol))$/i;

/**
 * Opens a WebSocket on a connected socket, which it then owns. A server that refuses gives the answer that it sent. The
 * body of the other answer is a line of JSON for each message in either direction; it ends with the connection.
 * @throws the connection's error, or the library's for a handshake that is wrong
 */
export async function openWebSocket(
  socket: Socket,
  url: string,
  request: WireRequest,
  watcher: LiveWatcher,
  signal: AbortSignal,
): Promise<Answer> {
  const protocols = headerValues(request.headers, 'sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((value) => value.trim());
  // The socket is connected, and has TLS if the URL asks for it.
  const client = made(() => {
    const options = { headers: headersOf(request.headers), createConnection: () => socket };
    return new WebSocket(`ws://unused${request.path}`, protocols, { ...options, maxPayload: MAX_MESSAGE_BYTES });
  }, socket);
  const abort = (): void => client.terminate();
  signal.addEventListener('abort', abort, { once: true });
  client.once('close', () => signal.removeEventListener('abort', abort));
  return await new Promise<Answer>((resolve, reject) => {
    // The first messages come at once: who listens later misses them.
    client.once('upgrade', (response) => {
      const answer = answerOf(response);
      const { status, statusText, headers } = answer;
      const conversation = new Conversation(client, { what: 'websocket', url, status, statusText, headers }, watcher);
      resolve({ ...answer, body: Readable.from(conversation.lines()) });
    });
    client.once('unexpected-response', (_request, response) => resolve(answerOf(response)));
    client.on('error', reject);
  });
}

function answerOf(body: IncomingMessage): Answer {
  const { statusCode: status = 0, statusMessage: statusText = '', httpVersion, rawHeaders } = body;
  return { status, statusText, httpVersion, headers: headerEntries(rawHeaders), body };
}

/** The library checks names and subprotocols before it uses the socket. */
function made(make: () => WebSocket, socket: Socket): WebSocket {
  try {
    return make();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function headersOf(headers: readonly HeaderEntry[]): Record<string, string[]> {
  const made: Record<string, string[]> = {};
  for (const { name, value } of headers) {
    if (!OWN_HEADERS.test(name)) made[name] = [...(made[name] ?? []), toWire(value)];
  }
  return made;
}

/** The messages of an open WebSocket, in the order in which they were received or written. */
class Conversation {
  readonly #client: WebSocket;
  readonly #watcher: LiveWatcher;
  #waiting: LiveMessage[] = [];
  #lines: string[] = [];
  #changed = deferred<void>();
  #ended = false;
  /** Why the connection was lost. */
  #fault = '';

  constructor(client: WebSocket, head: LiveHead, watcher: LiveWatcher) {
    this.#client = client;
    this.#watcher = watcher;
    client.on('message', (data, isBinary) => {
      this.#add('server', isBinary ? 'binary' : 'text', bytesOf(data));
      if (this.#waiting.length >= MAX_WAITING) client.pause();
    });
    client.on('error', ({ message }) => {
      this.#fault = message;
    });
    client.once('close', (code, reason) => {
      const why = reason.toString() || this.#fault || closeText(code);
      this.#add('server', 'close', Buffer.from(`${code} ${why}`.trim()));
      this.#ended = true;
    });
    watcher.opened({ head, stop: () => this.#stop(), send: (message) => this.#send(message) });
  }

  /** Ends when the connection has ended and everything was reported. */
  async *lines(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const [messages, lines] = [this.#waiting.splice(0), this.#lines.splice(0)];
        if (messages.length > 0) {
          yield Buffer.from(lines.join(''));
          await this.#watcher.messages(messages);
          this.#client.resume();
        } else if (this.#ended) return;
        else {
          await this.#changed.promise;
          this.#changed = deferred<void>();
        }
      }
    } finally {
      this.#client.terminate();
    }
  }

  #add(from: LiveMessage['from'], type: string, bytes: Buffer): void {
    const data = bytes.toString(type === 'binary' ? 'base64' : 'utf8');
    const at = Date.now();
    this.#lines.push(`${JSON.stringify({ at: new Date(at).toISOString(), from, type, data })}\n`);
    this.#waiting.push({ at, from, type, data: data.slice(0, MAX_SHOWN_CHARS), bytes: bytes.length, id: '' });
    this.#changed.resolve();
  }

  async #send(message: string | Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#client.send(message, (error) => {
        if (!error) return resolve();
        reject(new TroupeError('REQUEST_FAILED', 'The WebSocket has ended; connect again', { cause: 'CLOSED' }));
      });
    });
    this.#add('client', typeof message === 'string' ? 'text' : 'binary', Buffer.from(message));
  }

  #stop(): void {
    this.#client.resume();
    this.#client.close(1000);
    const timer = setTimeout(() => this.#client.terminate(), CLOSE_MS);
    this.#client.once('close', () => clearTimeout(timer));
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** RFC 6455, section 7.4.1, for codes that come without a reason. */
function closeText(code: number): string {
  const texts: Readonly<Record<number, string>> = {
    1000: '',
    1001: 'the server is going away',
    1005: '',
    1006: 'the connection was lost',
    1009: 'a message was too long',
    1011: 'the server had an error',
  };
  return texts[code] ?? '';
}
