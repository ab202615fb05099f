import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { pause } from '../../../base/deadline.js';
import {
  CLAIM_LEASE_S,
  ClaimAnswer,
  JoinedBatch,
  type JoinedFlow,
  JoinedFlows,
  type JoinedResult,
  type JoinRequest,
} from '../../../protocol/batches/joined.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { ServiceClient } from '../../service-client.js';

/** How long a service that does not answer is asked again, in milliseconds: as long as a claim lasts. */
const PATIENCE_MS = CLAIM_LEASE_S * 1000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

export type Claimed = Extract<ClaimAnswer, { state: 'claimed' }>;

/** The service that hands out the flows of a joined batch. Calls are repeated while it does not answer. */
export class Coordinator {
  readonly #client: ServiceClient;
  readonly #machine: string;
  readonly #path: string;

  /** When the batch was made, by the service's clock. */
  readonly begunAt: string;

  private constructor(client: ServiceClient, machine: string, { id, createdAt }: JoinedBatch) {
    this.#client = client;
    this.#machine = machine;
    this.#path = `/api/batches/${id}`;
    this.begunAt = createdAt;
  }

  /** @throws INVALID_REQUEST if another machine has begun the build with other flows */
  static async join(
    client: ServiceClient,
    machine: string,
    request: JoinRequest,
  ): Promise<{ readonly coordinator: Coordinator; readonly batch: JoinedBatch }> {
    const batch = JoinedBatch.parse(await patiently(() => client.json('POST', '/api/batches/join', request)));
    return { coordinator: new Coordinator(client, machine, batch), batch };
  }

  async claim(): Promise<ClaimAnswer> {
    const token = randomBytes(18).toString('base64url');
    const request = { machine: this.#machine, token };
    return ClaimAnswer.parse(await patiently(() => this.#client.json('POST', `${this.#path}/claim`, request)));
  }

  /** Asks once. */
  async renew({ token }: Claimed): Promise<void> {
    await this.#client.json('POST', `${this.#path}/claims/${token}/renew`, {});
  }

  async storeArtifacts({ token }: Claimed, zip: Buffer<ArrayBuffer>): Promise<void> {
    await patiently(() => this.#client.put(`${this.#path}/claims/${token}/artifacts`, zip));
  }

  async finish({ token }: Claimed, result: JoinedResult): Promise<void> {
    await patiently(() => this.#client.json('POST', `${this.#path}/claims/${token}/result`, result));
  }

  async results(): Promise<readonly JoinedFlow[]> {
    return JoinedFlows.parse(await patiently(() => this.#client.json('GET', `${this.#path}/results`))).flows;
  }

  /** @param path as a result names it */
  async download(path: string, file: string): Promise<void> {
    await patiently(async () => pipeline(await this.#client.download(path), createWriteStream(file)));
  }
}

/** Repeats a call that got no answer. @throws what the service answered; UNAVAILABLE after {@link PATIENCE_MS} */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof TroupeError && error.code === 'UNAVAILABLE';
      if (!isAway || performance.now() + pauseMs > until) throw error;
    }
    await pause(pauseMs);
  }
}
