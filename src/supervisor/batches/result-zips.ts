import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { limitSignal } from '../../base/deadline.js';
import { ifMissing } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { JoinedAttempt } from '../../journal/joined-changes.js';
import type { Journal } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { openArtifact } from '../artifacts/session-files.js';
import type { OpenFile } from '../ports/artifacts.js';

/** The names of zips: job, attempt, and what no other upload has. */
const ZIP = /^\d{1,5}-\d{1,2}-[0-9a-f]{12}\.zip$/;
/** How long a zip may take from one node to another, in milliseconds. */
const COPY_MS = 300_000;

/** A zip with the artifacts of an attempt at a job of a joined batch. */
export interface ResultZip {
  /** The node that took it; null if the service was none. */
  readonly node: string | null;
  readonly name: string;
}

/** The other nodes, as far as zips need them. */
export interface ResultNodes {
  readonly ownId: string;
  /** A file of another node. @throws NODE_LOST; what the node answers, such as NOT_FOUND */
  fileOf(node: string, path: string): Promise<OpenFile>;
}

export interface ResultZipsParts {
  readonly journal: Pick<Journal, 'joinedAttempts'>;
  readonly config: Pick<Config, 'batchesDir'>;
  /** Null if this service is alone. */
  readonly nodes: ResultNodes | null;
}

/** What an attempt's row in the journal says of its zip. */
export function noteOf({ node, name }: ResultZip): string {
  return node === null ? name : `${node}/${name}`;
}

/** The zip that {@link noteOf} has noted. */
export function zipOf(note: string): ResultZip {
  const slash = note.indexOf('/');
  return { node: slash === -1 ? null : note.slice(0, slash), name: note.slice(slash + 1) };
}

/**
 * The zips that machines send with their results, in `batches/<id>/results/` of the home. Of several nodes, the one that
 * took a zip has it, and the others ask it. A zip goes with the batch's folder, which each node removes from its own home
 * (`Retention`).
 */
export class ResultZips {
  readonly #parts: ResultZipsParts;

  constructor(parts: ResultZipsParts) {
    this.#parts = parts;
  }

  /** A name of its own: a machine whose answer was lost sends its zip again, maybe while the first one still arrives. */
  next({ job, attempt }: Pick<JoinedAttempt, 'job' | 'attempt'>): ResultZip {
    const name = `${job}-${attempt}-${randomBytes(6).toString('hex')}.zip`;
    return { node: this.#parts.nodes?.ownId ?? null, name };
  }

  /** Where the zip is, in the home of its node. */
  path(batch: string, { name }: ResultZip): string {
    return join(this.#folder(batch), name);
  }

  /** Removes a zip that another one has replaced; one of another node stays until the batch goes. */
  async remove(batch: string, zip: ResultZip): Promise<void> {
    if (this.#away(zip) === null) await rm(this.path(batch, zip), { force: true });
  }

  /** @throws NOT_FOUND; NODE_LOST if the node that has it is gone, or does not answer */
  async open(batch: string, name: string): Promise<OpenFile> {
    const [attempt] = ZIP.test(name) ? await this.#parts.journal.joinedAttempts(batch, { file: name }) : [];
    const note = attempt?.artifacts ?? null;
    if (note === null) throw new TroupeError('NOT_FOUND', 'There are no such artifacts');
    const zip = zipOf(note);
    const away = await this.#fromNode(batch, zip);
    if (away !== null) return away;
    await this.#own(batch, zip);
    return openArtifact(this.#folder(batch), name);
  }

  /** The zips of ended attempts. */
  async ofEnded(batch: string): Promise<readonly (ResultZip & { readonly job: number; readonly attempt: number })[]> {
    const attempts = await this.#parts.journal.joinedAttempts(batch);
    return attempts.flatMap(({ state, job, attempt, artifacts }) =>
      state === 'ended' && artifacts !== null ? [{ job, attempt, ...zipOf(artifacts) }] : [],
    );
  }

  /**
   * A zip as a file of this home.
   * @param copy where it is to be if another node has it
   * @returns its path; or, as an error, why it cannot be had
   * @throws the error of this machine's disk, or of the database
   */
  async fetch(batch: string, zip: ResultZip, copy: string): Promise<string | TroupeError> {
    try {
      const away = await this.#fromNode(batch, zip);
      if (away === null) return await this.#own(batch, zip);
      await this.#copy(away, zip, copy);
      return copy;
    } catch (error) {
      if (error instanceof TroupeError) return error;
      throw error;
    }
  }

  async #own(batch: string, zip: ResultZip): Promise<string> {
    const path = this.path(batch, zip);
    if ((await access(path).catch(ifMissing)) !== null) return path;
    const home = zip.node === null ? 'the home of the service' : `the home of the node ${zip.node}`;
    throw new TroupeError('NOT_FOUND', `The zip ${zip.name} is not in ${home}`);
  }

  async #copy({ stream }: OpenFile, { node }: ResultZip, copy: string): Promise<void> {
    const signal = limitSignal(COPY_MS);
    try {
      await pipeline(stream, createWriteStream(copy, { mode: 0o600 }), { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new TroupeError('NODE_LOST', `The node ${node} did not send the file in time`);
    }
  }

  async #fromNode(batch: string, zip: ResultZip): Promise<OpenFile | null> {
    const away = this.#away(zip);
    return away === null ? null : away.nodes.fileOf(away.node, `/api/batches/${batch}/results/${zip.name}`);
  }

  /** Null if the zip is in this home, as far as anybody knows. */
  #away({ node }: ResultZip): { readonly node: string; readonly nodes: ResultNodes } | null {
    const { nodes } = this.#parts;
    return node === null || nodes === null || node === nodes.ownId ? null : { node, nodes };
  }

  #folder(batch: string): string {
    return join(this.#parts.config.batchesDir, batch, 'results');
  }
}
