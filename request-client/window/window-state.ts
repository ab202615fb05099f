import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { listOf, member } from '../engine/collection/json-access.js';
import { WindowSizes, type WindowView } from '../protocol/request-window.js';

const MAX_RECENT = 10;

/** What the window keeps from start to start: the files that were open, newest first, and the sizes of its parts. */
export class WindowState {
  /** Null if nothing is stored on disk. */
  readonly #path: string | null;
  #recent: readonly string[] = [];
  #sizes: WindowSizes | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string | null) {
    this.#path = path;
  }

  /** A missing or unreadable file counts as empty. */
  static async open(path: string): Promise<WindowState> {
    const state = new WindowState(path);
    try {
      const value: unknown = JSON.parse(await readFile(path, 'utf8'));
      state.#recent = listOf(member(value, 'recent')).flatMap((one) => (typeof one === 'string' ? [one] : []));
      state.#sizes = WindowSizes.safeParse(member(value, 'sizes')).data ?? null;
    } catch {
      // The first start.
    }
    return state;
  }

  get view(): WindowView {
    return { recent: this.#recent, sizes: this.#sizes };
  }

  /** A file was opened or saved. @param path absolute */
  async opened(path: string): Promise<void> {
    if (this.#recent[0] === path) return;
    this.#recent = [path, ...this.#recent.filter((one) => one !== path)].slice(0, MAX_RECENT);
    await this.#write();
  }

  async resize(sizes: WindowSizes): Promise<void> {
    this.#sizes = sizes;
    await this.#write();
  }

  /** A full or locked disk must not prevent work. */
  async #write(): Promise<void> {
    const path = this.#path;
    if (path === null) return;
    this.#writing = this.#writing.then(async () => {
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const temporary = `${path}.${process.pid}.tmp`;
        await writeFile(temporary, `${JSON.stringify(this.view)}\n`, { mode: 0o600 });
        await rename(temporary, path);
      } catch {
        // See above.
      }
    });
    await this.#writing;
  }
}
