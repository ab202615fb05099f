import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFile } from '../files/thread-files.js';

/**
 * A file of a session that stands while rules of `page.route` or a clock do. They are lost with the session's thread:
 * without them a page would reach what they keep it from, or see another time, so the next thread closes it.
 */
export class RulesMark {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Whether rules were lost with an earlier thread. */
  get stands(): boolean {
    return existsSync(this.#file);
  }

  async set(stands: boolean): Promise<void> {
    if (!stands) return rm(this.#file, { force: true });
    await mkdir(dirname(this.#file), { recursive: true });
    await writeFile(this.#file, '');
  }
}
