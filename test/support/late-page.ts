import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './service.js';

/** A page that is answered when the test says so. */
export interface LatePage {
  readonly url: string;
  /** How many requests wait. */
  readonly waiting: number;
  /** Answers those that wait. */
  answer(): void;
}

/** Starts a server with the page. Its requests wait until the test answers them, or ends. */
export async function latePage(t: Teardown): Promise<LatePage> {
  const waiting = new Set<() => void>();
  const server = createServer((_, response) => {
    const answer = () => void response.setHeader('content-type', 'text/html').end('<h1>at last</h1>');
    waiting.add(answer);
    response.once('close', () => waiting.delete(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    get waiting() {
      return waiting.size;
    },
    answer() {
      for (const answer of waiting) answer();
      waiting.clear();
    },
  };
}
