import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { flowOfFile, isFlowFile } from '../../base/flow-file.js';
import { asAbsent } from '../../base/system-fault.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { FlowLeaf, FlowNode, SavedFlow } from '../../protocol/flow-tree.js';
import { parseFlow } from '../../script/source/source-step.js';
import { listInside } from '../files/list-inside.js';
import { flowArguments } from './flow-arguments.js';
import { MAX_FILE_BYTES, newPathInside, readInside, refused } from './flow-folder.js';
import { leadingComment } from './leading-comment.js';
import { flowCode } from './read-flow.js';
import { writeInside } from './write-inside.js';

/** Flows that are read for their comment; of those beyond the path alone is known. */
const MAX_LISTED = 200;
const MAX_LISTED_BYTES = 256 * 1024;
const MAX_ABOUT = 4_000;
/** Files that are read at a time. */
const AT_ONCE = 16;

/** A flow of the flows folder. */
export interface FlowEntry {
  /** As Flow.run takes it: without its extension. */
  readonly path: string;
  /** The first line of its leading comment; empty where it has none. */
  readonly about: string;
}

type Leaf = Exclude<FlowNode, { kind: 'folder' }>;
type Folder = Extract<FlowNode, { kind: 'folder' }>;

/** What is in a flows folder, told from the sources. What was read once is read again when its file has changed. */
export class FlowCatalog {
  readonly #flowsDir: string;
  /** Settles with the last change. */
  #saving: Promise<void> = Promise.resolve();
  /** By path, the files of the last look. */
  #known: ReadonlyMap<string, { readonly stamp: string; readonly leaf: Leaf }> = new Map();

  /** @param flowsDir absolute; need not be there yet */
  constructor(flowsDir: string) {
    this.#flowsDir = flowsDir;
  }

  /** The flows there are, by path. Empty if the folder is not there or cannot be listed. */
  async list(signal: AbortSignal): Promise<readonly FlowEntry[]> {
    const listed = (await listInside(this.#flowsDir, '**/*.{js,ts}', signal).catch(asAbsent)) ?? [];
    const files = listed.filter(isFlowFile);
    const about = async (file: string) => {
      const source = (await readInside(this.#flowsDir, file, MAX_LISTED_BYTES).catch(asAbsent)) ?? '';
      return leadingComment(source).split('\n')[0] ?? '';
    };
    return Promise.all(
      files.map(async (file, index) => ({
        path: flowOfFile(file),
        about: index < MAX_LISTED ? await about(file) : '',
      })),
    );
  }

  /**
   * Flows and task files by name, folders first.
   * @throws SCRIPT_ERROR where there are more than 10,000 files
   */
  async tree(signal: AbortSignal): Promise<readonly FlowNode[]> {
    const listed = await listInside(this.#flowsDir, '**/*.{js,ts,md}', signal);
    const paths = listed.filter((path) => isFlowFile(path) || path.endsWith('.md'));
    const seen = new Map<string, { readonly stamp: string; readonly leaf: Leaf }>();
    const left = paths.values();
    const lookAtNext = async () => {
      for (const path of left) {
        signal.throwIfAborted();
        const stats = await lstat(join(this.#flowsDir, path)).catch(asAbsent);
        // Gone since it was listed.
        if (stats === null) continue;
        const stamp = `${stats.mtimeMs} ${stats.size}`;
        const known = this.#known.get(path);
        seen.set(path, known?.stamp === stamp ? known : { stamp, leaf: await this.#leaf(path) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lookAtNext));
    this.#known = seen;
    return grow(paths.flatMap((path) => seen.get(path)?.leaf ?? []));
  }

  /** @throws NOT_FOUND for what is no flow or task file of the folder */
  async source(path: string): Promise<string> {
    const text = isFlowFile(path) || path.endsWith('.md') ? await this.#read(path) : null;
    if (text === null) throw new TroupeError('NOT_FOUND', `There is no flow or task file '${path.slice(0, 200)}'`);
    return text;
  }

  /**
   * Replaces or creates a flow or task file, unless `check` throws. Changes of one catalog follow one another, so the file
   * is still what `check` got when it is replaced; a script that writes it in this moment by `File.write` is not noticed.
   * @param check gets the present text; null if there is no such file
   * @throws INVALID_REQUEST for a path that File.write refuses, or that names neither a flow nor a task file
   */
  async save(path: string, text: string, check: (current: string | null) => void): Promise<SavedFlow> {
    const turn = this.#saving.then(() => this.#save(path, text, check));
    this.#saving = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #save(path: string, text: string, check: (current: string | null) => void): Promise<SavedFlow> {
    try {
      if (!isFlowFile(path) && !path.endsWith('.md'))
        throw refused(path, 'a flow ends with .js or .ts, a task with .md');
      // A second spelling of a path would be another name of the same file.
      if (/(^|\/)\.?(\/|$)/.test(path)) throw refused(path, 'write it without empty parts and without ./');
      newPathInside(this.#flowsDir, path);
      check(await this.#read(path));
      const { bytes } = await writeInside(this.#flowsDir, path, text);
      return { path, bytes, fault: path.endsWith('.md') ? null : describeFlow(path, text).fault };
    } catch (error) {
      if (!(error instanceof TroupeError) || error.code !== 'SCRIPT_ERROR') throw error;
      throw new TroupeError('INVALID_REQUEST', error.message, { issues: [{ path: 'path', message: error.message }] });
    }
  }

  async #leaf(path: string): Promise<Leaf> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const text = await this.#read(path);
    if (path.endsWith('.md')) {
      const [first = ''] = (text ?? '').split('\n').filter((line) => line.trim() !== '');
      return { kind: 'task', name, path, about: first.replace(/^#+\s*/, '').slice(0, MAX_ABOUT) };
    }
    return { kind: 'flow', name, path, ...describeFlow(path, text) };
  }

  /** Null for what is not there, leads out of the folder, or is too long for a flow. */
  #read(path: string): Promise<string | null> {
    return readInside(this.#flowsDir, path, MAX_FILE_BYTES).catch(asAbsent);
  }
}

function describeFlow(file: string, source: string | null): Pick<FlowLeaf, 'about' | 'args' | 'fault'> {
  if (source === null) {
    return { about: '', args: [], fault: { error: 'The file cannot be read as a flow', line: 1, column: 1 } };
  }
  const about = leadingComment(source).slice(0, MAX_ABOUT);
  try {
    return { about, args: [...flowArguments(parseFlow(flowCode(file, source)))], fault: null };
  } catch (thrown) {
    const { error, details } = encodeError(thrown);
    const at = (of: unknown) => (typeof of === 'number' ? of : 1);
    return { about, args: [], fault: { error, line: at(details?.line), column: at(details?.column) } };
  }
}

/** @param leaves by path */
function grow(leaves: readonly Leaf[]): readonly FlowNode[] {
  const root: FlowNode[] = [];
  const folders = new Map<string, FlowNode[]>([['', root]]);
  const entriesOf = (path: string): FlowNode[] => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf('/');
    const entries: FlowNode[] = [];
    const folder: Folder = { kind: 'folder', name: path.slice(cut + 1), path, entries };
    entriesOf(path.slice(0, Math.max(0, cut))).push(folder);
    folders.set(path, entries);
    return entries;
  };
  for (const leaf of leaves) entriesOf(leaf.path.slice(0, Math.max(0, leaf.path.lastIndexOf('/')))).push(leaf);
  for (const entries of folders.values()) entries.sort(byKindAndName);
  return root;
}

function byKindAndName(a: FlowNode, b: FlowNode): number {
  if ((a.kind === 'folder') !== (b.kind === 'folder')) return a.kind === 'folder' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
