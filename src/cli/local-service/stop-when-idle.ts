import { fstatSync, ftruncateSync } from 'node:fs';
import { deferred } from '../../base/deferred.js';
import type { Service } from '../../service.js';

const CHECK_MS = 1_000;
/** The log of a service that a command started, in bytes: beyond this it begins anew. */
const LOG_BYTES = 5_000_000;
const STANDARD_ERROR = 2;

/** The end of a service that nobody uses. */
export interface IdleEnd {
  /** Stays pending if the service does not end by itself. */
  readonly reached: Promise<'idle'>;
  /** Idempotent. */
  cancel(): void;
}

/**
 * Watches a service that a command has started: `reached` settles when it was not used for `idleMs`. In the meantime its log, which
 * is a file, is kept short. Null watches nothing.
 */
export function stopWhenIdle(service: Pick<Service, 'unusedMs'>, idleMs: number | null): IdleEnd {
  const { promise: reached, resolve } = deferred<'idle'>();
  if (idleMs === null) return { reached, cancel: () => undefined };
  const timer = setInterval(() => {
    shortenLog();
    if (service.unusedMs() >= idleMs) resolve('idle');
  }, CHECK_MS);
  return { reached, cancel: () => clearInterval(timer) };
}

function shortenLog(): void {
  try {
    const found = fstatSync(STANDARD_ERROR);
    if (found.isFile() && found.size > LOG_BYTES) ftruncateSync(STANDARD_ERROR);
  } catch {
    // It is no file that can be shortened.
  }
}
