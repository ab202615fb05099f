import { execFile } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { promisify } from 'node:util';

/** A request as received; text has one character per byte. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** A loopback server that records requests byte for byte, by the first segment of their path. */
export class WireCapture {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #kept = new Map<string, WireRequest[]>();

  private constructor() {
    this.#server = createServer((socket) => this.#read(socket));
  }

  static async start(): Promise<WireCapture> {
    const capture = new WireCapture();
    await new Promise<void>((resolve) => {
      capture.#server.listen(0, '127.0.0.1', resolve);
    });
    return capture;
  }

  /** `http://127.0.0.1:<port>` */
  get origin(): string {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
  }

  /** The requests since the last call. */
  take(): ReadonlyMap<string, readonly WireRequest[]> {
    const kept = this.#kept;
    this.#kept = new Map();
    return kept;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #read(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (/^expect: 100-continue\r$/im.test(text.slice(0, text.indexOf('\r\n\r\n') + 2))) {
        socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      }
      for (let found = parseRequest(text); found !== null; found = parseRequest(text)) {
        text = text.slice(found.length);
        const { request } = found;
        const key = /^\/?([^/?]*)/.exec(request.target)?.[1] ?? '';
        this.#kept.set(key, [...(this.#kept.get(key) ?? []), request]);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }
    });
  }
}

function parseRequest(text: string): { request: WireRequest; length: number } | null {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, method = '', target = ''] = /^(\S*) (.*) HTTP\/1\.[01]$/.exec(first) ?? [];
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const named = (name: string): string | undefined => headers.find(([header]) => header.toLowerCase() === name)?.[1];
  const body = text.slice(end + 4);
  if (named('transfer-encoding') === 'chunked') {
    const chunks = /^((?:[0-9a-f]+\r\n[\s\S]*?\r\n)*?)0\r\n\r\n/i.exec(body);
    if (chunks === null) return null;
    const joined = (chunks[1] ?? '').replace(/[0-9a-f]+\r\n([\s\S]*?)\r\n/gi, '$1');
    return { request: { method, target, headers, body: joined }, length: end + 4 + chunks[0].length };
  }
  const length = Number(named('content-length') ?? 0);
  if (body.length < length) return null;
  return { request: { method, target, headers, body: body.slice(0, length) }, length: end + 4 + length };
}

/** Runs commands one after another in one real bash. Failures, such as a URL that curl rejects, are ignored. */
export async function runInBash(commands: readonly string[], folder: string): Promise<void> {
  const script = commands.map((command) => `{ ${command}\n} >/dev/null 2>&1 </dev/null`).join('\n');
  const environment = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' };
  await promisify(execFile)('bash', ['-c', `${script}\n:`], { cwd: folder, env: environment, timeout: 120_000 });
}

/**
 * A request without what belongs to the client rather than to the command: its own User-Agent, connection headers,
 * Expect, a form's boundary. Header names keep their case; sorted by name, values of one name in their order.
 */
export function comparable({ method, target, headers, body }: WireRequest): WireRequest {
  const kept = headers.filter(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'user-agent') return !/^(?:curl\/|Troupe)/.test(value);
    if (lower === 'connection') return value !== 'keep-alive';
    if (lower === 'content-length' && body === '') return false;
    return lower !== 'expect';
  });
  const boundary = headers
    .map(([name, value]) => (/^content-type$/i.test(name) ? /boundary=(-{10,}\w+)/.exec(value)?.[1] : undefined))
    .find((found) => found !== undefined);
  const plain = (text: string): string => (boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY'));
  return {
    method,
    target,
    headers: kept
      .filter(([name]) => boundary === undefined || !/^content-length$/i.test(name))
      .map(([name, value]) => [name, plain(value)] as const)
      .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0)),
    body: plain(body),
  };
}
