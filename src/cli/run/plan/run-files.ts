import { lstat, opendir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isTypesAlone } from '../../../agent-js/flows/flow-refusal.js';
import { globMatcher } from '../../../agent-js/network/glob-matcher.js';
import { hookOf, isFlowFile } from '../../../base/flow-file.js';
import { errorCode, sentenceOf } from '../../../base/system-fault.js';
import { isPicture, MAX_BATCH_FLOWS } from '../../../protocol/batches/batch.js';
import { TroupeError } from '../../../protocol/errors.js';
import { UsageError } from '../../../terminal/failure.js';

/** What a glob looks into at most. */
const MAX_LOOKED = 100_000;
const MAX_FILE_BYTES = 1024 * 1024;
/** A baseline picture; base64 adds a third. */
const MAX_PICTURE_BYTES = 3 * 1024 * 1024;
/** All that a run brings; its jobs need room in the same request. */
const MAX_BYTES = 24 * 1024 * 1024;
/** What flows are made of, read, and compare pages with. */
const BROUGHT = /\.(js|ts|md|json|csv|txt)$|\.baselines\/[^/]+\.png$/;
/** The baselines of a flow directly in a folder lie one folder deeper. */
const BASELINE = /^[^/]+\.baselines\/[^/]+$/;
const GLOB = /[*?{}]/;

/** The files of a run. Paths are relative to the flows folder, with forward slashes. */
export interface RunFiles {
  /** The flows folder, absolute; null where no file was named. */
  readonly root: string | null;
  /** Flow and task files that were named, in their order, each once. */
  readonly named: readonly string[];
  /** The texts that go with them, by path; baseline pictures in base64. */
  readonly texts: { readonly [path: string]: string };
}

/**
 * Finds the files that were named, and what must go with them. The flows folder of a file is the nearest folder above
 * it that is called `flows`, and all of that goes along; without one it is the current folder, and what lies beside the
 * named files goes along.
 *
 * @param words files, folders (all of their flows), and globs, from the current folder or from one of `bases`
 * @param flows the flows folder, where it was said
 * @throws UsageError that says which word finds nothing, or what is too much
 */
export async function findRunFiles(
  words: readonly string[],
  where: { readonly cwd: string; readonly bases: readonly string[]; readonly flows?: string | undefined },
): Promise<RunFiles> {
  const files: string[] = [];
  const plainly = new Set<string>();
  for (const word of words) {
    const found = await filesOf(word, [where.cwd, ...where.bases]);
    if (found.how === 'file') for (const file of found.files) plainly.add(file);
    files.push(...found.files);
  }
  const unique = [...new Set(files)];
  const [first] = unique;
  if (first === undefined) return { root: null, named: [], texts: {} };
  const said = where.flows === undefined ? null : resolve(where.cwd, where.flows);
  const roots = new Set(
    unique.map((file) => said ?? flowsFolderOf(file) ?? (isBelow(where.cwd, file) ? where.cwd : dirname(file))),
  );
  const [root = where.cwd, other] = roots;
  if (other !== undefined) {
    throw new UsageError(`The files of a run have one flows folder, not ${root} and ${other}; --flows says which`);
  }
  const outside = unique.find((file) => !isBelow(root, file));
  if (outside !== undefined) throw new UsageError(`${outside} is not in the flows folder ${root}`);
  const whole = said !== null || basename(root) === 'flows';
  const folders = whole ? null : new Set(unique.map(dirname));
  const found = unique.map((file) => pathIn(root, file));
  const texts = await readAll(root, found, folders);
  // Those that were named one by one are refused when they are submitted.
  const typesAlone = (path: string) => !plainly.has(join(root, path)) && isTypesAlone(path, texts[path] ?? '');
  return { root, named: found.filter((path) => !typesAlone(path)), texts };
}

/** Files, and how a word names them. */
interface Found {
  readonly how: 'file' | 'folder' | 'glob';
  readonly files: readonly string[];
}

async function filesOf(word: string, bases: readonly string[]): Promise<Found> {
  for (const base of bases) {
    const found = GLOB.test(word) ? await globbed(word, base) : await plain(resolve(base, word));
    if (found !== null) return found;
  }
  throw new UsageError(
    GLOB.test(word) ? `No .js, .ts or .md file matches '${word}'` : `There is no file or folder '${word}'`,
  );
}

async function globbed(word: string, base: string): Promise<Found | null> {
  const files = await expand(word, base);
  return files.length === 0 ? null : { how: 'glob', files };
}

async function plain(file: string): Promise<Found | null> {
  const stats = await stat(file).catch(() => null);
  if (stats === null) return null;
  if (stats.isDirectory()) return { how: 'folder', files: await flowsBelow(file) };
  // Opening a FIFO that nobody writes would wait for ever.
  if (!stats.isFile()) throw new UsageError(`'${file}' is neither a file nor a folder`);
  if (isFlowFile(file) || file.endsWith('.md')) return { how: 'file', files: [file] };
  throw new UsageError(`'${file}' is neither a .js or .ts flow nor a .md task file`);
}

/** The flows in a folder and the folders below it, by path. Tasks (.md) need a model, and are named one by one. */
async function flowsBelow(folder: string): Promise<readonly string[]> {
  const found = await expand('**/*', folder);
  const flows = found.filter(isFlowFile);
  if (flows.length > 0) return flows;
  const tasks = found.length === 0 ? '' : `; to run its tasks, write '${join(folder, '**/*.md')}'`;
  throw new UsageError(`There is no flow (.js or .ts) in '${folder}'${tasks}`);
}

/** What a glob finds below its part without wildcards, by path. `_setup` and `_teardown` run by themselves. */
async function expand(glob: string, base: string): Promise<readonly string[]> {
  const segments = glob.split('/');
  const first = segments.findIndex((segment) => GLOB.test(segment));
  const folder = resolve(base, segments.slice(0, first).join('/') || (isAbsolute(glob) ? sep : '.'));
  const matches = globMatcher(`./${segments.slice(first).join('/')}`);
  const found: string[] = [];
  for await (const path of walk(folder)) {
    if ((isFlowFile(path) || path.endsWith('.md')) && hookOf(path) === null && matches(path))
      found.push(join(folder, path));
  }
  return found.sort();
}

/** The files below a folder, without what is hidden and what was installed. */
async function* walk(folder: string): AsyncGenerator<string, void> {
  const waiting = [''];
  let looked = 0;
  for (let prefix = waiting.pop(); prefix !== undefined; prefix = waiting.pop()) {
    const entries = await opendir(join(folder, prefix)).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
      // What is below it would not run, and nobody would see that.
      throw new UsageError(`The folder ${join(folder, prefix)} cannot be read: ${sentenceOf(error)}`);
    });
    if (entries === null) continue;
    for await (const entry of entries) {
      looked += 1;
      if (looked > MAX_LOOKED) throw new UsageError(`${folder} has more than ${MAX_LOOKED} files to look at`);
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (entry.isDirectory()) waiting.push(`${prefix}${entry.name}/`);
      else if (entry.isFile()) yield `${prefix}${entry.name}`;
    }
  }
}

/** @param folders only files directly in these; all below the root where it is null */
async function readAll(
  root: string,
  named: readonly string[],
  folders: ReadonlySet<string> | null,
): Promise<{ readonly [path: string]: string }> {
  const paths = new Set(named);
  for (const folder of folders ?? [root]) {
    for await (const path of walk(folder)) {
      if (!BROUGHT.test(path) || path.endsWith('.d.ts')) continue;
      if (folders !== null && path.includes('/') && !BASELINE.test(path)) continue;
      paths.add(pathIn(root, join(folder, path)));
    }
  }
  if (paths.size > MAX_BATCH_FLOWS) throw tooMuch(root, `more than ${MAX_BATCH_FLOWS} files`);
  const texts: { [path: string]: string } = {};
  let bytes = 0;
  for (const path of [...paths].sort()) {
    const { size } = await lstat(join(root, path));
    const isBaseline = isPicture(path);
    if (isBaseline && size > MAX_PICTURE_BYTES) {
      throw new TroupeError('INVALID_REQUEST', `The baseline ${path} has more than ${MAX_PICTURE_BYTES} bytes`);
    }
    if (!isBaseline && size > MAX_FILE_BYTES && !named.includes(path)) continue;
    if (!isBaseline && size > MAX_FILE_BYTES)
      throw new TroupeError('INVALID_REQUEST', `${path} has more than ${MAX_FILE_BYTES} bytes`);
    bytes += isBaseline ? Math.ceil(size / 3) * 4 : size;
    if (bytes > MAX_BYTES) throw tooMuch(root, `more than ${MAX_BYTES} bytes`);
    texts[path] = await readFile(join(root, path), isBaseline ? 'base64' : 'utf8');
  }
  return texts;
}

function tooMuch(root: string, what: string): UsageError {
  return new UsageError(`The flows folder ${root} has ${what} of flows; --flows names a smaller one`);
}

function flowsFolderOf(file: string): string | null {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === 'flows') return folder;
  }
  return null;
}

function isBelow(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function pathIn(root: string, file: string): string {
  return relative(root, file).split(sep).join('/');
}
