import type { Host } from '../../script/prelude/engine.js';

/** Defines `File`. */
export function install(host: Host): void {
  Reflect.set(globalThis, 'File', {
    write: (path: unknown, text: unknown): unknown => host('write', path, text),
    read: (path: unknown): unknown => host('read', path),
    list: (glob?: unknown): unknown => host('list', glob),
  });
}
