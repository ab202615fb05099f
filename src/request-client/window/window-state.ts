import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WindowSizes } from '../../protocol/requests/request-window.js';
import { listOf, member, textOf } from '../collection/json-access.js';

const MAX_RECENT = 10;

/** An open tab: ids of items are not the same after the next start, so it is the path, and the name to be sure. */
export interface KeptTab {
  readonly path: readonly (string | number)[];
  readonly name: string;
  readonly active: boolean;
  /** The tab runs the item. */
  readonly run: boolean;
}

/**
 * What the window keeps from start to start: the files that were open, newest first, their tabs and environments, and the
 * sizes of its parts.
 */
export class WindowState {
  /** Null if nothing is stored on disk. */
  readonly #path: string | null;
  #recent: readonly string[] = [];
  #sizes: WindowSizes | null = null;
  #tabs: ReadonlyMap<string, readonly KeptTab[]> = new Map();
  #environments: ReadonlyMap<string, string> = new Map();
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
      state.#tabs = new Map(
        state.#recent.map((file) => [file, listOf(member(member(value, 'tabs'), file)).flatMap(tabIn)]),
      );
      state.#environments = new Map(
        state.#recent.flatMap((file) => {
          const path = textOf(member(member(value, 'environments'), file));
          return path === undefined ? [] : [[file, path] as const];
        }),
      );
      state.#sizes = WindowSizes.safeParse(member(value, 'sizes')).data ?? null;
    } catch {
      // The first start.
    }
    return state;
  }

  get recent(): readonly string[] {
    return this.#recent;
  }

  /** Null if they were never changed. */
  get sizes(): WindowSizes | null {
    return this.#sizes;
  }

  /** The tabs of a collection. @param file absolute */
  tabsOf(file: string): readonly KeptTab[] {
    return this.#tabs.get(file) ?? [];
  }

  async keepTabs(file: string, tabs: readonly KeptTab[]): Promise<void> {
    if (JSON.stringify(this.tabsOf(file)) === JSON.stringify(tabs)) return;
    this.#tabs = new Map([...this.#tabs, [file, tabs]]);
    await this.#write();
  }

  /** The file of the environment that a collection was used with; null if there is none. @param file absolute */
  environmentOf(file: string): string | null {
    return this.#environments.get(file) ?? null;
  }

  /**
   * The next start chooses it again.
   *
   * @param file of the collection; null if it has none yet, which is not known after the next start
   * @param path of the environment, absolute
   */
  async keepEnvironment(file: string | null, path: string | null): Promise<void> {
    if (file === null || this.environmentOf(file) === path) return;
    const others = [...this.#environments].filter(([one]) => one !== file);
    this.#environments = new Map(path === null ? others : [...others, [file, path]]);
    await this.#write();
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
        const tabs = Object.fromEntries(this.#recent.map((file) => [file, this.tabsOf(file)]));
        const environments = Object.fromEntries(this.#environments);
        const kept = { recent: this.#recent, sizes: this.#sizes, tabs, environments };
        await writeFile(temporary, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
        await rename(temporary, path);
      } catch {
        // See above.
      }
    });
    await this.#writing;
  }
}

function tabIn(value: unknown): KeptTab[] {
  const path = listOf(member(value, 'path')).filter((step) => typeof step === 'string' || typeof step === 'number');
  const name = textOf(member(value, 'name'));
  return name === undefined
    ? []
    : [{ path, name, active: member(value, 'active') === true, run: member(value, 'run') === true }];
}
