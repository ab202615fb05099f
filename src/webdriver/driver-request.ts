import { Agent, request } from 'node:http';
import { TroupeError } from '../protocol/errors.js';

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** An answer of chromedriver, as it wrote it. */
export interface DriverAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a command to a chromedriver. There is no deadline for the answer: a command may wait as long as the timeouts
 * that the client has set, and the end of the session ends the driver.
 */
export class DriverClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(port: number) {
    this.#port = port;
  }

  /** @throws WORKER_LOST if the driver ends */
  send(method: string, path: string, body: string | null): Promise<DriverAnswer> {
    return new Promise((resolve, reject) => {
      const lost = (cause?: unknown): void =>
        reject(new TroupeError('WORKER_LOST', 'The chromedriver of the session has ended', undefined, { cause }));
      const headers =
        body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request(
        { host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent },
        (answer) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES) answer.destroy();
            else chunks.push(chunk);
          });
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 500, text: Buffer.concat(chunks).toString('utf8') }),
          );
          answer.on('close', () => lost());
        },
      );
      sent.on('error', lost);
      sent.end(body ?? undefined);
    });
  }

  /** Idempotent. */
  close(): void {
    this.#agent.destroy();
  }
}

/** The JSON of an answer; undefined if it is none. */
export function bodyOf({ text }: DriverAnswer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
