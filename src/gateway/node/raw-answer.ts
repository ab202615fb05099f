import type { Duplex } from 'node:stream';
import { stretched } from '../../base/deadline.js';
import { eachHeader, type ReplyHead } from '../http/reply-head.js';
import { statusLine } from '../http/status-line.js';

/** How long a client may take to read the answer. */
const TAKE_MS = stretched(10_000);

/**
 * Answers on a connection that node:http does not handle, and closes it: after a parse error, or for a WebSocket
 * request.
 */
export function answerRaw(socket: Duplex, head: ReplyHead, body: string): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const lines = [`HTTP/1.1 ${statusLine(head.status)}`];
  eachHeader(head, (name, value) => lines.push(`${name}: ${value}`));
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`);
  const timer = setTimeout(() => socket.destroy(), TAKE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
