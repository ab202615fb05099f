import { dirname, join } from 'node:path';
import type { JournalPlace } from './messages.js';
import type { SalvagedTable } from './sqlite/salvage.js';
import type { Store } from './store.js';

/** Beside the file that would be the journal. */
const LOCK_FILE = 'troupe.lock';

/**
 * Opens the store at a place; loads only the library that this takes. A damaged file is not opened: its readable rows
 * are copied to another file.
 * @throws UNAVAILABLE with the reason and the remedy
 */
export async function openStore(place: JournalPlace): Promise<Store | readonly SalvagedTable[]> {
  if (place.database !== undefined) {
    const { HomeLock } = await import('./sqlite/home-lock.js');
    const { PostgresStore } = await import('./postgres/postgres-store.js');
    return PostgresStore.open(place.database, HomeLock.take(join(dirname(place.file), LOCK_FILE)), {
      isShared: place.isShared ?? false,
    });
  }
  const { SqliteStore } = await import('./sqlite/sqlite-store.js');
  return SqliteStore.open(place.file);
}
