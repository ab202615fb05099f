import type { JournalPlace } from './messages.js';
import type { SalvagedTable } from './sqlite/salvage.js';
import type { Store } from './store.js';

/**
 * Opens the store at a place; loads only the library that this takes. A damaged file is not opened: its readable rows
 * are copied to another file.
 * @throws UNAVAILABLE with the reason and the remedy
 */
export async function openStore(place: JournalPlace): Promise<Store | readonly SalvagedTable[]> {
  if (place.database !== undefined) {
    const { PostgresStore } = await import('./postgres/postgres-store.js');
    return PostgresStore.open(place.database);
  }
  const { SqliteStore } = await import('./sqlite/sqlite-store.js');
  return SqliteStore.open(place.file);
}
