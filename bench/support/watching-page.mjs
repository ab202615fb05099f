// A page that watches one session, as the dashboard's does: connects again when it is let go of, and asks for what it missed.
import { once } from 'node:events';
import { unpack } from 'msgpackr';
import { WebSocket } from 'ws';

const DEADLINE_MS = 60_000;

export class WatchingPage {
  /** The numbers of the lines that it was told, in their order. */
  lines = [];
  frames = 0;
  /** It was let go of while it read nothing. */
  cut = false;
  #url;
  #id;
  #last = 0;
  #newest = '';
  #socket = null;
  #changed = () => undefined;

  static async open(url, id) {
    const page = new WatchingPage();
    page.#url = `${url.replace('http', 'ws')}/api/stream`;
    page.#id = id;
    await page.#connect();
    return page;
  }

  /** Whether this was the text of the newest line. */
  saw(text) {
    return this.#newest === text;
  }

  sleep() {
    this.#socket.pause();
  }

  /** Reads again, and settles when it holds. */
  async wake(holds) {
    this.#socket.once('close', () => {
      this.cut = true;
      this.#connect().catch(() => undefined);
    });
    this.#socket.resume();
    await this.until(holds);
  }

  async until(holds) {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    while (!holds(this)) {
      await new Promise((resolve, reject) => {
        this.#changed = resolve;
        deadline.onabort = () => reject(new Error(`A page is behind after ${DEADLINE_MS} ms`));
      });
    }
  }

  async close() {
    this.#socket.removeAllListeners('close');
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  async #connect() {
    this.#socket = new WebSocket(this.#url, { perMessageDeflate: false });
    this.#socket.on('message', (data) => this.#hear(unpack(data)));
    await once(this.#socket, 'open');
    this.#socket.send(JSON.stringify({ type: 'watchSession', id: this.#id, after: this.#last }));
    this.#socket.send(JSON.stringify({ type: 'watchScreen', id: this.#id, pace: 'live' }));
  }

  #hear(message) {
    if (message.type === 'frame') this.frames += 1;
    if (message.type !== 'events') return;
    for (const { seq, type, data } of message.events) {
      // What was told already may come once more after a lost connection.
      if (seq <= this.#last) continue;
      this.#last = seq;
      if (type !== 'ConsoleWritten') continue;
      this.lines.push(seq);
      this.#newest = data.text;
    }
    this.#changed();
  }
}
