import { once } from 'node:events';
import { Packr } from 'msgpackr';
import { WebSocketServer } from 'ws';

/** As far apart as the service's messages to so many viewers of a session. */
const paceMs = (viewers) => Math.max(40, viewers / 1.6);

/**
 * What the service tells the viewers of a session, from the simplest server that one could write: the same events in the
 * same messages, packed once, and `send` for each client. Give it back with `close`.
 */
export async function plainStream() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const packr = new Packr({ useRecords: false });
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    /** Tells so many lines a second to so many viewers. Answers what ends that. */
    tell(linesASecond, viewers) {
      let seq = 0;
      let events = [];
      const data = { level: 'log', text: 'x'.repeat(200), line: 1, column: 1 };
      const telling = setInterval(() => {
        const at = new Date().toISOString();
        events.push({ seq: ++seq, sessionId: 'aaaaaaaaaaaa', at, type: 'ConsoleWritten', data });
      }, 1_000 / linesASecond);
      const sending = setInterval(() => {
        if (events.length === 0) return;
        const message = packr.pack({ type: 'events', id: 'aaaaaaaaaaaa', events });
        events = [];
        for (const client of server.clients) client.send(message);
      }, paceMs(viewers));
      return async () => {
        clearInterval(telling);
        clearInterval(sending);
      };
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
