import type { Host } from '#troupe/script/prelude/engine.js';

/** Defines `Request`. */
export function install(host: Host): void {
  Reflect.set(globalThis, 'Request', {
    run: (path: unknown, vars?: unknown): unknown => host('run', path, vars),
  });
}
