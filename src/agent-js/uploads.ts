import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TroupeError } from '../protocol/errors.js';

/** The paths of files that a script names, which lie in the session's uploads folder. @throws ACTION_FAILED */
export async function uploadPaths(uploadsDir: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) throw new TroupeError('ACTION_FAILED', 'upload takes the name of a file');
  return Promise.all(names.map((name) => uploadPath(uploadsDir, name)));
}

async function uploadPath(uploadsDir: string, name: string): Promise<string> {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw new TroupeError(
      'ACTION_FAILED',
      `${JSON.stringify(name)} is not a file's name: one without a path is wanted`,
    );
  }
  const path = join(uploadsDir, name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) {
    throw new TroupeError(
      'ACTION_FAILED',
      `There is no file ${JSON.stringify(name)} to upload; PUT it to the session's files`,
    );
  }
  return path;
}
