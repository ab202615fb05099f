import { type AddressBytes, formatAddress } from './address.js';

const PORTS = 65_536;
const BITS_BYTES = PORTS / 8;
/** How often the targets were changed, twice each time, and how many there are. */
const HEAD_BYTES = 8;
const ADDRESS_BYTES = 16;
const TARGET_BYTES = ADDRESS_BYTES + 2;
const MAX_TARGETS = 1_000;
/** Of a reader, while the targets are being changed. */
const MAX_TRIES = 1_000;

/**
 * What pages, scripts and webhooks must not reach, besides the service's own port, and what changes while it runs: ports of
 * this machine, those of chromedrivers and of the listeners that they connect to, with one bit for each port; and ports of
 * other machines, at which other nodes listen. In memory that all threads share; one thread alone writes it.
 */
export class ClosedPorts {
  /** Can be sent to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #bits: Uint8Array;
  readonly #head: Int32Array;
  readonly #targets: DataView;
  readonly #watchers: (() => void)[] = [];

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(BITS_BYTES + HEAD_BYTES + MAX_TARGETS * TARGET_BYTES)) {
    this.shared = shared;
    this.#bits = new Uint8Array(shared, 0, BITS_BYTES);
    this.#head = new Int32Array(shared, BITS_BYTES, 2);
    this.#targets = new DataView(shared, BITS_BYTES + HEAD_BYTES);
  }

  /** Calls this after something was closed through this object, for as long as it lives. */
  watch(closed: () => void): void {
    this.#watchers.push(closed);
  }

  has(port: number): boolean {
    return isPort(port) && (Atomics.load(this.#bits, port >> 3) & (1 << (port & 7))) !== 0;
  }

  add(port: number): void {
    if (!isPort(port)) return;
    Atomics.or(this.#bits, port >> 3, 1 << (port & 7));
    this.#closed();
  }

  delete(port: number): void {
    if (isPort(port)) Atomics.and(this.#bits, port >> 3, ~(1 << (port & 7)));
  }

  /** Closes these ports of other machines, the first {@link MAX_TARGETS}, in place of those before. */
  closeTargets(targets: readonly { readonly address: AddressBytes; readonly port: number }[]): void {
    const closed = targets.slice(0, MAX_TARGETS);
    Atomics.add(this.#head, 0, 1);
    for (const [index, { address, port }] of closed.entries()) {
      const at = index * TARGET_BYTES;
      for (let byte = 0; byte < ADDRESS_BYTES; byte += 1) this.#targets.setUint8(at + byte, address[byte] ?? 0);
      this.#targets.setUint16(at + ADDRESS_BYTES, port);
    }
    Atomics.store(this.#head, 1, closed.length);
    Atomics.add(this.#head, 0, 1);
    this.#closed();
  }

  /** The addresses of other machines at which this port is closed now, as `formatAddress` returns them. */
  addressesAt(port: number): readonly string[] {
    let found: readonly string[] = [];
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const before = Atomics.load(this.#head, 0);
      found = this.#read(Atomics.load(this.#head, 1), port);
      // Else they were changed meanwhile.
      if (before % 2 === 0 && Atomics.load(this.#head, 0) === before) break;
    }
    return found;
  }

  #closed(): void {
    for (const closed of this.#watchers) closed();
  }

  #read(count: number, port: number): readonly string[] {
    const found: string[] = [];
    for (let at = 0; at < count * TARGET_BYTES; at += TARGET_BYTES) {
      if (this.#targets.getUint16(at + ADDRESS_BYTES) !== port) continue;
      found.push(formatAddress(Array.from({ length: ADDRESS_BYTES }, (_, byte) => this.#targets.getUint8(at + byte))));
    }
    return found;
  }
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port < PORTS;
}
