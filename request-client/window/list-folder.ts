import { readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { FolderView } from '../protocol/request-window.js';

const MAX_ENTRIES = 5000;

/** The folders and JSON files of a folder, for the file dialogs. @throws NOT_FOUND */
export async function listFolder(path: string): Promise<FolderView> {
  const absolute = resolve(path);
  const found = await readdir(absolute, { withFileTypes: true }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new TroupeError('NOT_FOUND', `The folder ${absolute} cannot be read: ${why}`);
  });
  const entries = found
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || /\.json$/i.test(entry.name)))
    .map((entry) => ({ name: entry.name, folder: entry.isDirectory() }))
    .sort((a, b) => Number(b.folder) - Number(a.folder) || a.name.localeCompare(b.name))
    .slice(0, MAX_ENTRIES);
  const parent = dirname(absolute);
  return { path: absolute, parent: parent === absolute ? null : parent, entries };
}
