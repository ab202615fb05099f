import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** Engine 20.10 and later speak this (https://docs.docker.com/engine/api/v1.41/). */
const API = '/v1.41';
const DEADLINE_MS = 30_000;
/** The longest answer that is kept whole: a listing of a thousand containers is 2 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** The longest line of a stream of JSON lines. */
const MAX_LINE_CHARS = 1_048_576;

const Refusal = z.object({ message: z.string() });

/** One call of the engine's API. */
export interface EngineCall {
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent as it is, a tar file. */
  readonly tar?: Buffer | Readable;
  /** Statuses beside 2xx that are no failure. */
  readonly accept?: readonly number[];
  /**
   * The whole call, for {@link DockerEngine.lines} and {@link DockerEngine.stream} the time until its answer begins; 30 s by
   * default.
   */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Does not keep a process alive that waits for nothing else. */
  readonly background?: boolean;
}

/** The Docker Engine of this machine, over its unix socket. Every call is a connection of its own. */
export class DockerEngine {
  readonly socketPath: string;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** @throws UNAVAILABLE when the engine does not answer in time, or refuses with a status that was not to be expected. */
  async call(method: string, path: string, call: EngineCall = {}): Promise<{ status: number; body: Buffer }> {
    const startedAt = performance.now();
    const response = await this.#send(method, path, call);
    const { deadlineMs = DEADLINE_MS } = call;
    const body = await this.#body(response, method, path, {
      ...call,
      deadlineMs: deadlineMs - (performance.now() - startedAt),
    });
    this.#assertStatus(method, path, response, body, call);
    return { status: response.statusCode ?? 0, body };
  }

  /** As {@link call}; the answer is JSON of the schema's shape. */
  async json<T>(method: string, path: string, shape: z.ZodType<T>, call: EngineCall = {}): Promise<T> {
    const { body } = await this.call(method, path, call);
    return shape.parse(JSON.parse(body.toString('utf8')));
  }

  /**
   * A stream of JSON values, one a line, as events and progress come. Ends with the connection, or by the signal.
   * @param onOpen called once the engine has taken the call
   */
  async *lines(method: string, path: string, call: EngineCall, onOpen?: () => void): AsyncGenerator<unknown, void> {
    const response = await this.#send(method, path, call);
    if ((response.statusCode ?? 0) >= 300) {
      this.#assertStatus(method, path, response, await this.#body(response, method, path, call), call);
    }
    onOpen?.();
    let rest = '';
    for await (const text of response.setEncoding('utf8')) {
      const lines = (rest + String(text)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) throw this.#fault(`${method} ${path} sent a line without end`);
      for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
    }
    if (rest.trim() !== '') yield JSON.parse(rest);
  }

  /** An answer as it comes, which its taker reads or destroys; `signal` ends it. */
  async stream(method: string, path: string, call: EngineCall): Promise<Readable> {
    const response = await this.#send(method, path, call);
    if ((response.statusCode ?? 0) >= 300) {
      this.#assertStatus(method, path, response, await this.#body(response, method, path, call), call);
    }
    return response;
  }

  /** Whether an engine answers: its version, or why not. */
  async version(): Promise<{ readonly version: string } | { readonly why: string }> {
    try {
      const { Version } = await this.json('GET', '/version', z.object({ Version: z.string() }), { deadlineMs: 3_000 });
      return { version: Version };
    } catch (error) {
      return { why: sentenceOf(error) };
    }
  }

  async #send(method: string, path: string, call: EngineCall): Promise<IncomingMessage> {
    const { query, json, tar, deadlineMs = DEADLINE_MS, signal, background = false } = call;
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const type = json !== undefined ? 'application/json' : tar !== undefined ? 'application/x-tar' : undefined;
    const sent = request({
      socketPath: this.socketPath,
      path: API + path + search,
      method,
      agent: false,
      headers: { host: 'docker', ...(type === undefined ? {} : { 'content-type': type }) },
      ...(signal === undefined ? {} : { signal }),
    });
    if (background) sent.once('socket', (socket) => socket.unref());
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    try {
      const answered = answerOf(sent);
      if (tar instanceof Readable) {
        // Whoever refuses early says so in an answer, which the failed upload must not hide.
        await Promise.race([answered, pipeline(tar, sent)]).catch(() => undefined);
      } else sent.end(tar ?? (json === undefined ? undefined : JSON.stringify(json)));
      return await answered;
    } catch (cause) {
      signal?.throwIfAborted();
      throw this.#fault(`${describeCause(cause)} (${method} ${path})`, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** An engine may begin an answer and never end it. */
  async #body(response: IncomingMessage, method: string, path: string, call: EngineCall): Promise<Buffer> {
    const { deadlineMs = DEADLINE_MS, signal } = call;
    const late = new Error('its answer did not end in time');
    const timer = setTimeout(() => response.destroy(late), deadlineMs);
    try {
      return await bodyOf(response);
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause instanceof TroupeError ? cause : this.#fault(`${describeCause(cause)} (${method} ${path})`, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  #assertStatus(method: string, path: string, response: IncomingMessage, body: Buffer, call: EngineCall): void {
    const status = response.statusCode ?? 0;
    if ((status >= 200 && status < 300) || call.accept?.includes(status) === true) return;
    throw this.#fault(`${refusalOf(body)} (${method} ${path} answered ${status})`);
  }

  #fault(what: string, cause?: unknown): TroupeError {
    return new TroupeError('UNAVAILABLE', `Docker engine at ${this.socketPath}: ${what}`, undefined, { cause });
  }
}

function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
  });
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TroupeError('UNAVAILABLE', 'The Docker engine sent an answer without end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refusalOf(body: Buffer): string {
  const text = body.toString('utf8').trim();
  try {
    return Refusal.parse(JSON.parse(text)).message;
  } catch {
    return text.slice(0, 500);
  }
}

function describeCause(cause: unknown): string {
  const code = errorCode(cause);
  switch (code) {
    case 'ENOENT':
      return 'there is no such socket';
    case 'EACCES':
      return 'this user may not use it; add the user to the group docker, or run as root';
    case 'ECONNREFUSED':
      return 'no engine listens';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'it closed the connection before it had answered; try again';
    default:
      return sentenceOf(cause);
  }
}
