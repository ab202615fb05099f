import type { Host } from '../../script/prelude/engine.js';
import { withKnownMembers } from './members.js';

/** Defines `File`. */
export function install(host: Host): void {
  const calls = {
    write: (path: unknown, text: unknown): unknown => host('write', path, text),
    read: (path: unknown): unknown => host('read', path),
    list: (glob?: unknown): unknown => host('list', glob),
  };
  Reflect.set(globalThis, 'File', withKnownMembers('File', calls));
}
