import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TroupeError } from '../protocol/errors.js';
import type { ArtifactStore, StoreSetting } from './artifact-store.js';

/**
 * The store of a configuration; undefined if artifacts stay in the home. Connects only when it is used.
 * @param sessionsDir where the home has the folders of sessions
 * @throws INVALID_REQUEST if the folder is the home by another name
 */
export async function openStore(
  setting: StoreSetting | undefined,
  sessionsDir: string,
): Promise<ArtifactStore | undefined> {
  switch (setting?.kind) {
    case undefined:
      return undefined;
    case 'folder':
      if (await isSameFolder(join(setting.folder, 'sessions'), sessionsDir)) throw homeNamed(setting.folder);
      return new (await import('./folder-store.js')).FolderStore(setting.folder);
    case 's3':
      // The client takes 0.3 s to load.
      return new (await import('./s3-store.js')).S3Store(setting);
  }
}

/** The error of artifacts that are in a store, of a service that has none. */
export function storeMissing(): TroupeError {
  return new TroupeError(
    'UNAVAILABLE',
    'The artifacts of the session are in a store that this service does not have: set "artifacts" in troupe.json as it was when the session ran',
  );
}

/** Also by a link or a mount: what is moved there would be removed as its own original. */
async function isSameFolder(one: string, other: string): Promise<boolean> {
  const [found, own] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)));
  return found != null && own != null && found.dev === own.dev && found.ino === own.ino;
}

function homeNamed(folder: string): TroupeError {
  return new TroupeError(
    'INVALID_REQUEST',
    `"artifacts.folder" in troupe.json names ${folder}, which is the home itself: name another folder, or remove "artifacts" to keep artifacts in the home`,
  );
}
