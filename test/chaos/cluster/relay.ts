import { createServer, type Server, Socket } from 'node:net';

/** What a relay does with connections. */
type Mode = 'open' | 'refusing' | 'silent';

/**
 * A port of 127.0.0.1 that passes connections on to another one. Closed, it is a network between nodes that is cut, while
 * each of them still reaches the database.
 */
export class Relay {
  readonly port: number;
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #mode: Mode = 'open';

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    this.#target = target;
    server.on('connection', (socket) => this.#connected(socket));
  }

  /** Listens on `port`. The caller closes it. */
  static async open(port: number, target: number): Promise<Relay> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return new Relay(server, port, target);
  }

  /** `refusing` ends connections; `silent` takes them and everything that is sent, and never answers. */
  set mode(mode: Mode) {
    this.#mode = mode;
    // What is under way meets the same: with `silent` nobody hears of it.
    if (mode === 'refusing') this.#cut();
    for (const socket of this.#sockets) mode === 'silent' ? socket.pause() : socket.resume();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#cut();
    await closed;
  }

  #connected(near: Socket): void {
    this.#add(near);
    if (this.#mode === 'refusing') return void near.destroy();
    const far = new Socket().connect(this.#target, '127.0.0.1').setNoDelay();
    this.#add(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.once('close', () => other.destroy());
    }
    if (this.#mode === 'silent') near.pause();
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
