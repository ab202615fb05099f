const PORTS = 65_536;

/**
 * Ports of this machine that pages, scripts and webhooks must not reach, besides the service's own: those of
 * chromedrivers and of the listeners that they connect to. One bit for each port, in memory that all threads share.
 */
export class ClosedPorts {
  /** Can be sent to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #bits: Uint8Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(PORTS / 8)) {
    this.shared = shared;
    this.#bits = new Uint8Array(shared);
  }

  has(port: number): boolean {
    return isPort(port) && (Atomics.load(this.#bits, port >> 3) & (1 << (port & 7))) !== 0;
  }

  add(port: number): void {
    if (isPort(port)) Atomics.or(this.#bits, port >> 3, 1 << (port & 7));
  }

  delete(port: number): void {
    if (isPort(port)) Atomics.and(this.#bits, port >> 3, ~(1 << (port & 7)));
  }
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port < PORTS;
}
