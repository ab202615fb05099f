import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config.js';
import type { Journal, KeyValue } from '../../journal/journal.js';
import { writeBatchFlows } from './batch-flows.js';

const Files = z.record(z.string(), z.string());

/** Batches whose flows are known to be here, or not to exist. */
const MAX_KNOWN = 1_000;

/** The row of the journal with the flows that a batch brought, for other nodes. */
export function batchFlowsRow(batch: string, files: { readonly [path: string]: string }): KeyValue {
  return { kind: 'batch-flows', id: batch, data: files };
}

/** Copies the flows of batches that another node accepted into this home. */
export class SharedBatchFlows {
  readonly #parts: {
    readonly config: Pick<Config, 'flowsDir' | 'batchesDir'>;
    readonly journal: Pick<Journal, 'keyValues'>;
  };
  readonly #known = new Map<string, Promise<void>>();

  constructor(parts: {
    readonly config: Pick<Config, 'flowsDir' | 'batchesDir'>;
    readonly journal: Pick<Journal, 'keyValues'>;
  }) {
    this.#parts = parts;
  }

  /** Resolves when the batch's own flows, if it has any, are in this home. @throws the journal's error, or the disk's */
  async fetch(batch: string): Promise<void> {
    const known = this.#known.get(batch) ?? this.#copy(batch);
    this.#known.set(batch, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    try {
      await known;
    } catch (error) {
      this.#known.delete(batch);
      throw error;
    }
  }

  async #copy(batch: string): Promise<void> {
    const { config, journal } = this.#parts;
    const folder = join(config.batchesDir, batch);
    // Of a joined batch, the folder may have results alone.
    if (existsSync(join(folder, 'flows'))) return;
    const [row] = await journal.keyValues('batch-flows', batch);
    const files = Files.safeParse(row?.data);
    if (!files.success) return;
    // Renamed when complete: a node that is killed meanwhile leaves no half of it.
    const part = `${batch}.part`;
    await rm(join(config.batchesDir, part), { recursive: true, force: true });
    await writeBatchFlows(config, part, files.data);
    await mkdir(folder, { recursive: true });
    await rename(join(config.batchesDir, part, 'flows'), join(folder, 'flows'));
    await rm(join(config.batchesDir, part), { recursive: true, force: true });
  }
}
