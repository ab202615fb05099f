const RESOLVED = Promise.resolve();

/** Those that are woken together. */
let sleepers: { readonly cells: Int32Array; readonly index: number }[] = [];

/**
 * Raises a cell, and wakes the thread that sleeps on it when this thread has done what it is at, in a microtask. A thread
 * that wakes takes the processor from its waker more often than not, and who is interrupted between two orders finds its
 * caches cold each time.
 */
export function wakeSoon(cells: Int32Array, index: number): void {
  Atomics.add(cells, index, 1);
  if (sleepers.push({ cells, index }) === 1) void RESOLVED.then(wakeAll);
}

function wakeAll(): void {
  const all = sleepers;
  sleepers = [];
  for (const { cells, index } of all) Atomics.notify(cells, index);
}
