import { isRunning, type ProcessKey } from './process-table.js';

/** How often those are looked at that are not our children; two files of /proc each. */
const EVERY_MS = 200;

/** Tells when processes end that another process started. Its timer runs only while there is one to watch. */
export class ExitWatch {
  readonly #watched = new Map<ProcessKey, () => void>();
  #timer: NodeJS.Timeout | null = null;

  /** Settles within 200 ms of the end of this process. */
  ended(key: ProcessKey): Promise<void> {
    return new Promise((resolve) => {
      this.#watched.set(key, resolve);
      this.#timer ??= setInterval(() => this.#look(), EVERY_MS).unref();
    });
  }

  #look(): void {
    for (const [key, resolve] of this.#watched) {
      if (mayRun(key)) continue;
      this.#watched.delete(key);
      resolve();
    }
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** A look that the system refuses says nothing: the next one will. */
function mayRun(key: ProcessKey): boolean {
  try {
    return isRunning(key);
  } catch {
    return true;
  }
}
