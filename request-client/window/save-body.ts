import { constants, copyFile, writeFile } from 'node:fs/promises';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { HttpResponse } from '../engine/run/response.js';

/**
 * Writes a complete body to a file, without sending it through the page.
 * @throws INVALID_REQUEST with `details.changedOnDisk` if the file exists and `overwrite` is false
 */
export async function saveBody({ body }: HttpResponse, path: string, overwrite: boolean): Promise<void> {
  try {
    if (body.kind === 'memory') await writeFile(path, body.bytes, { flag: overwrite ? 'w' : 'wx' });
    else await copyFile(body.path, path, overwrite ? 0 : constants.COPYFILE_EXCL);
  } catch (error) {
    const exists = error instanceof Error && Reflect.get(error, 'code') === 'EEXIST';
    const why = error instanceof Error ? error.message : String(error);
    throw exists
      ? new TroupeError('INVALID_REQUEST', `The file ${path} already exists`, { changedOnDisk: true })
      : new TroupeError('INVALID_REQUEST', `The body cannot be written: ${why}`);
  }
}
