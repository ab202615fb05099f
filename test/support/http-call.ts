import { request } from 'node:http';
import { connect } from 'node:net';
import { limitSignal, stretched } from '#troupe/base/deadline.js';

/** A request as it goes over the wire: node:http sends the path as it is, dots and escapes included. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Buffer;
  /** Sends the body in pieces without a Content-Length. */
  readonly chunked?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
  /** The body as JSON, undefined where it is none. */
  readonly json: unknown;
}

const DEADLINE_MS = 60_000;

/** Makes one call on a connection of its own. Rejects after 60 s. */
export function httpCall(url: string, call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = call.body === undefined || call.chunked ? {} : { 'content-length': Buffer.byteLength(call.body) };
    const sent = request({
      hostname,
      port,
      method: call.method,
      path: call.path,
      headers: { ...length, ...(call.chunked ? { 'transfer-encoding': 'chunked' } : {}), ...call.headers },
      signal: limitSignal(DEADLINE_MS),
      agent: false,
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    if (call.body === undefined) {
      sent.end();
    } else if (call.chunked) {
      const body = Buffer.from(call.body);
      for (let at = 0; at < body.byteLength; at += 64 * 1024) sent.write(body.subarray(at, at + 64 * 1024));
      sent.end();
    } else {
      sent.end(call.body);
    }
  });
}

/** Writes bytes to a socket and answers all that comes back until the other side closes, or until `enough` says so. */
export function rawCall(url: string, bytes: string | Buffer, enough: (seen: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let seen = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer within ${DEADLINE_MS} ms; seen: ${seen}`));
    }, stretched(DEADLINE_MS));
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      seen += text;
      if (enough(seen)) socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(seen);
    });
    socket.write(bytes);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
