import { createServer } from 'node:net';
import type { Teardown } from './service.js';

/** A unix socket that answers with a word, and how often it was connected to. */
export async function listenAt(
  t: Teardown,
  path: string,
  word: string,
): Promise<{ readonly path: string; connections: number }> {
  const counted = { path, connections: 0 };
  const server = createServer((socket) => {
    counted.connections += 1;
    socket.end(word);
  });
  await new Promise<void>((resolve) => server.listen({ path, readableAll: true, writableAll: true }, resolve));
  t.teardown(() => server.close());
  return counted;
}
