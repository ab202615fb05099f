import { readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const MEGABYTE = 1_000_000;

/**
 * Deletes what packages bring for other platforms: uWebSockets.js has a binary for every platform in one package, 240 MB of
 * it, libsql comes for both C libraries, and packages called `bare-*` have binaries for another runtime than Node. Only deletes, and only files of these packages. May be called again.
 *
 * @returns what became free, in megabytes
 * @throws what the file system says when a file cannot be deleted
 */
export async function removeUnusedBinaries(): Promise<number> {
  const bytes = [...(await removeOtherServers()), ...(await removeOtherLibrary()), ...(await removeOtherRuntime())];
  return Math.round(bytes.reduce((sum, size) => sum + size, 0) / MEGABYTE);
}

async function removeOtherServers(): Promise<readonly number[]> {
  const folder = folderOf('uWebSockets.js');
  if (folder === null) return [];
  // None of them where there is none for this Node: the service has another HTTP server for that.
  const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const names = (await readdir(folder)).filter((name) => /^uws_\w+\.node$/.test(name) && name !== own);
  return Promise.all(names.map((name) => remove(join(folder, name))));
}

/** The project runs on glibc alone. */
async function removeOtherLibrary(): Promise<readonly number[]> {
  const [used, unused] = ['gnu', 'musl'].map((library) =>
    folderOf(`@libsql/${process.platform}-${process.arch}-${library}/package.json`),
  );
  if (used == null || unused == null) return [];
  const names = (await readdir(unused)).filter((name) => name.endsWith('.node'));
  return Promise.all(names.map((name) => remove(join(unused, name))));
}

/** https://github.com/holepunchto/bare: archiver's streams run on it, too. */
async function removeOtherRuntime(): Promise<readonly number[]> {
  const libsql = folderOf('libsql');
  if (libsql === null) return [];
  const modules = dirname(libsql);
  const names = (await readdir(modules)).filter((name) => name.startsWith('bare-'));
  const found = await Promise.all(names.map((name) => filesIn(join(modules, name, 'prebuilds'))));
  return Promise.all(found.flat().map((file) => remove(file)));
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function remove(file: string): Promise<number> {
  const { size } = await stat(file);
  await rm(file);
  return size;
}

/** Where a module of a package is; null for one that is not installed. */
function folderOf(module: string): string | null {
  try {
    // libsql's binaries may be beside libsql only.
    const near = createRequire(import.meta.url).resolve('libsql');
    return dirname(createRequire(near).resolve(module));
  } catch {
    return null;
  }
}
