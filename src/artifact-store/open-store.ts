import { TroupeError } from '../protocol/errors.js';
import type { ArtifactStore, StoreSetting } from './artifact-store.js';

/** The store of a configuration; undefined if artifacts stay in the home. Connects only when it is used. */
export async function openStore(setting: StoreSetting | undefined): Promise<ArtifactStore | undefined> {
  switch (setting?.kind) {
    case undefined:
      return undefined;
    case 'folder':
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
