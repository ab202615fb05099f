import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it came. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly path: string;
}

/** Something that messages are sent to. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on; 200 until it is set. */
  answer: (response: ServerResponse) => void;
  /** Settles when so many messages were received in all. */
  until(count: number): Promise<void>;
  /** Stops listening; the port may be taken up again by {@link startReceiver}. */
  close(): Promise<void>;
}

/** @param port a port that it had before; 0 takes a free one */
export async function startReceiver(t: { teardown(work: () => unknown): void }, port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body, path: request.url ?? '' });
    receiver.answer(response);
    server.emit('received');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${own}/hook`,
    received,
    answer: (response) => void response.end(),
    async until(count) {
      const signal = AbortSignal.timeout(60_000);
      while (received.length < count) await once(server, 'received', { signal });
    },
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  t.teardown(() => receiver.close());
  return receiver;
}
