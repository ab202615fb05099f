import { randomUUID } from 'node:crypto';
import { constants, fstat, readFile } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, sentenceOf } from '../../base/system-fault.js';
import { withFile, writeFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import { misuse, shown } from '../call-arguments.js';
import { isMissing, newPathInside, realInside } from '../flows/flow-folder.js';

/** The longest baseline, in bytes. A flows folder is sent with each run. */
const MAX_BYTES = 8 * 1024 * 1024;
/** A name that every system can have, and that needs no escape in a report. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,79}$/u;

const statOf = promisify(fstat);
const contentOf = promisify(readFile);

/** A file beside a flow that says what a page has to look like. */
export interface Baseline {
  /** Relative to the flows folder, with forward slashes. */
  readonly path: string;
  readonly name: string;
}

/**
 * Reads and writes the baselines of flows: `shop/checkout.baselines/home.process-linux.png` belongs to the flow
 * `shop/checkout`. What is written is also put into the session's artifacts, from where `troupe run` takes it.
 */
export class Baselines {
  /** Driver and system, which decide how fonts are drawn: `docker-linux`. */
  readonly platform: string;
  /** Whether baselines are written rather than compared with. */
  readonly updating: boolean;
  readonly #flowsDir: string | null;
  readonly #artifactsDir: string;

  /** @param options.artifactsDir made when the first baseline is written */
  constructor(options: {
    readonly flowsDir: string | null;
    readonly artifactsDir: string;
    readonly platform: string;
    readonly updating: boolean;
  }) {
    this.#flowsDir = options.flowsDir;
    this.#artifactsDir = options.artifactsDir;
    this.platform = options.platform;
    this.updating = options.updating;
  }

  /**
   * @param call for messages: `agent.expectScreenshot`
   * @param ending `process-linux.png`
   * @throws SCRIPT_ERROR for a name that is no file's, and outside of a flow
   */
  of(call: string, name: unknown, flow: string | null, ending: string): Baseline {
    if (typeof name !== 'string' || !NAME.test(name) || /[. ]$/.test(name)) {
      const given = name === undefined || name === null ? '' : `, not ${shown(name)}`;
      throw misuse(`${call} takes a name of letters, digits, spaces and _.- (80 at most)${given}`);
    }
    if (flow === null || this.#flowsDir === null) {
      throw misuse(`${call} compares with a file beside its flow: call it in a flow, and start that with Flow.run`);
    }
    const path = `${flow}.baselines/${name}.${ending}`;
    newPathInside(this.#flowsDir, path);
    return { path, name };
  }

  /** Null if there is none. @throws SCRIPT_ERROR for a file that lies elsewhere or is too large */
  async read({ path }: Baseline): Promise<Buffer | null> {
    const folder = this.#flowsDir ?? '';
    try {
      const real = await realInside(folder, path, newPathInside(folder, path));
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      return await withFile(real, flags, async (descriptor) => {
        const stat = await statOf(descriptor);
        if (!stat.isFile()) return null;
        if (stat.size > MAX_BYTES) throw misuse(`The baseline ${path} has more than ${MAX_BYTES} bytes`);
        return contentOf(descriptor);
      });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Replaces the file as a whole. @throws ACTION_FAILED with what keeps it from being written */
  async write({ path }: Baseline, content: Uint8Array): Promise<void> {
    const folder = this.#flowsDir ?? '';
    if (content.byteLength > MAX_BYTES) {
      throw misuse(`The baseline ${path} would have more than ${MAX_BYTES} bytes: use within for a part of the page`);
    }
    try {
      const target = newPathInside(folder, path);
      // The flow's own folder exists; a link in it must not lead out.
      await realInside(folder, path, dirname(dirname(target)));
      await mkdir(dirname(target), { recursive: true });
      await this.#replace(
        join(await realInside(folder, path, dirname(target)), target.slice(dirname(target).length + 1)),
        content,
      );
      const copy = join(this.#artifactsDir, path);
      await mkdir(dirname(copy), { recursive: true });
      await this.#replace(copy, content);
    } catch (error) {
      if (error instanceof TroupeError || errorCode(error) === undefined) throw error;
      const message = `The baseline ${path} cannot be written: ${sentenceOf(error)}`;
      throw new TroupeError('ACTION_FAILED', message, undefined, { cause: error });
    }
  }

  async #replace(target: string, content: Uint8Array): Promise<void> {
    // Sessions of other threads and services may write the same baseline.
    const temporary = join(dirname(target), `.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, content);
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }
}
