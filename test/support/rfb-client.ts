import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { limitSignal } from '#troupe/base/deadline.js';

/** The smallest client of a desktop (RFC 6143): asks for the whole screen as it is, and can press on it. */
export class RfbClient {
  readonly socket: WebSocket;
  width = 0;
  height = 0;
  /** Blue, green, red and nothing for each pixel. */
  pixels: Buffer = Buffer.alloc(0);
  #rest: Buffer = Buffer.alloc(0);
  #wake: (() => void) | null = null;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, data]);
      this.#wake?.();
    });
    socket.on('close', () => this.#wake?.());
  }

  /** @throws what the server answered instead of a WebSocket */
  static async open(url: string, id: string, query = ''): Promise<RfbClient> {
    const client = new RfbClient(
      new WebSocket(`${url.replace('http', 'ws')}/sessions/${id}/desktop${query}`, 'binary'),
    );
    await once(client.socket, 'open', { signal: limitSignal(60_000) });
    const version = await client.#take(12);
    client.socket.send(version);
    const [count = 0] = await client.#take(1);
    await client.#take(count);
    client.socket.send(Buffer.of(1));
    const result = await client.#take(4);
    if (result.readUInt32BE(0) !== 0) throw new Error('The desktop lets nobody in');
    client.socket.send(Buffer.of(0));
    const init = await client.#take(24);
    client.width = init.readUInt16BE(0);
    client.height = init.readUInt16BE(2);
    await client.#take(init.readUInt32BE(20));
    // 32 bits, little endian, the raw encoding.
    client.socket.send(Buffer.of(0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0));
    client.socket.send(Buffer.of(2, 0, 0, 1, 0, 0, 0, 0));
    client.pixels = Buffer.alloc(client.width * client.height * 4);
    return client;
  }

  /** The screen as it is now. */
  async look(): Promise<void> {
    const request = Buffer.of(3, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    request.writeUInt16BE(this.width, 6);
    request.writeUInt16BE(this.height, 8);
    this.socket.send(request);
    for (;;) {
      const [type] = await this.#take(1);
      if (type === 0) return this.#update();
      if (type === 3) {
        await this.#take(3);
        await this.#take((await this.#take(4)).readUInt32BE(0));
      } else if (type !== 2) throw new Error(`The desktop says ${type}`);
    }
  }

  async #update(): Promise<void> {
    const head = await this.#take(3);
    for (let count = head.readUInt16BE(1); count > 0; count -= 1) {
      const rect = await this.#take(12);
      const [x, y, width, height] = [0, 2, 4, 6].map((at) => rect.readUInt16BE(at)) as [number, number, number, number];
      const data = await this.#take(width * height * 4);
      for (let row = 0; row < height; row += 1) {
        data.copy(this.pixels, ((y + row) * this.width + x) * 4, row * width * 4, (row + 1) * width * 4);
      }
    }
  }

  /** A pixel's colour as 0xrrggbb. */
  colour(x: number, y: number): number {
    return this.pixels.readUInt32LE((y * this.width + x) * 4) & 0xff_ff_ff;
  }

  click(x: number, y: number): void {
    for (const buttons of [0, 1, 0]) {
      const event = Buffer.of(5, buttons, 0, 0, 0, 0);
      event.writeUInt16BE(x, 2);
      event.writeUInt16BE(y, 4);
      this.socket.send(event);
    }
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await once(this.socket, 'close');
  }

  async #take(length: number): Promise<Buffer> {
    const late = limitSignal(60_000);
    late.addEventListener('abort', () => this.#wake?.());
    while (this.#rest.length < length) {
      if (late.aborted) throw new Error(`${length} bytes did not come in time`);
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('The desktop is gone');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

/** The size of the desktop behind a unix socket. Rejects where no desktop answers. */
export async function screenSize(path: string): Promise<{ readonly width: number; readonly height: number }> {
  const socket = connect(path);
  socket.setTimeout(60_000, () => socket.destroy(new Error('The desktop does not answer')));
  try {
    // The version, no authentication, shared: a client need not wait for the answers, which are 12, 2 and 4 bytes here.
    socket.write('RFB 003.008\n\x01\x01', 'latin1');
    let got = Buffer.alloc(0);
    for await (const chunk of socket) {
      got = Buffer.concat([got, chunk]);
      if (got.length >= 22) return { width: got.readUInt16BE(18), height: got.readUInt16BE(20) };
    }
    throw new Error(`The desktop ended its answer after ${got.length} bytes: ${got.toString('latin1')}`);
  } finally {
    socket.destroy();
  }
}
