import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import {
  ClaimAnswer,
  JoinedBatch,
  JoinedFlows,
  type JoinedResult,
  type JoinRequest,
} from '../../../protocol/batches/joined.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { ServiceClient } from '../../service-client.js';
import { patiently } from '../patiently.js';

export type Claimed = Extract<ClaimAnswer, { state: 'claimed' }>;

/** The service that hands out the flows of a joined batch. Calls are repeated while it does not answer. */
export class Coordinator {
  readonly #client: ServiceClient;
  readonly #machine: string;
  readonly #cancelled: AbortSignal;
  readonly batch: JoinedBatch;

  private constructor(client: ServiceClient, machine: string, cancelled: AbortSignal, batch: JoinedBatch) {
    this.#client = client;
    this.#machine = machine;
    this.#cancelled = cancelled;
    this.batch = batch;
  }

  /**
   * @param cancelled no call is repeated after it
   * @throws INVALID_REQUEST if another machine has begun the build with other flows; FORBIDDEN if with another token
   */
  static async join(
    client: ServiceClient,
    machine: string,
    request: JoinRequest,
    cancelled: AbortSignal,
  ): Promise<Coordinator> {
    const batch = await patiently(() => client.json('POST', '/api/batches/join', request), cancelled);
    return new Coordinator(client, machine, cancelled, JoinedBatch.parse(batch));
  }

  async claim(): Promise<ClaimAnswer> {
    for (;;) {
      const token = randomBytes(18).toString('base64url');
      try {
        const request = { machine: this.#machine, token };
        return ClaimAnswer.parse(await this.#patiently(() => this.#client.json('POST', this.#path('claim'), request)));
      } catch (error) {
        // The answer to the first try was lost, and so was the claim: another one may still be had.
        if (!isClaimLost(error)) throw error;
      }
    }
  }

  /** Asks once. */
  async renew({ token }: Claimed): Promise<void> {
    await this.#client.json('POST', this.#path(`claims/${token}/renew`), {});
  }

  async storeArtifacts({ token }: Claimed, zip: Buffer<ArrayBuffer>): Promise<void> {
    await this.#patiently(() => this.#client.put(this.#path(`claims/${token}/artifacts`), zip));
  }

  async finish({ token }: Claimed, result: JoinedResult): Promise<void> {
    await this.#patiently(() => this.#client.json('POST', this.#path(`claims/${token}/result`), result));
  }

  async results(): Promise<JoinedFlows> {
    return JoinedFlows.parse(await this.#patiently(() => this.#client.json('GET', this.#path('results'))));
  }

  /** @param path as a result names it */
  async download(path: string, file: string): Promise<void> {
    await this.#patiently(async () => pipeline(await this.#client.download(path), createWriteStream(file)));
  }

  #path(below: string): string {
    return `/api/batches/${this.batch.id}/${below}`;
  }

  #patiently<T>(call: () => Promise<T>): Promise<T> {
    return patiently(call, this.#cancelled);
  }
}

/** The service no longer takes anything under the claim. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof TroupeError && error.code === 'CLAIM_LOST';
}
