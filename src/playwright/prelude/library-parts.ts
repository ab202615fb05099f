import type { Engine, Host } from '../../script/prelude/engine.js';
import { hasOwn, isObject, ownKeys, words } from '../../script/prelude/primordials.js';

export interface LibraryParts {
  readonly host: Host;
  readonly engine: Engine;
  readonly page: () => object;
  readonly context: () => object;
  readonly expect: () => object;
}

/** @throws SCRIPT_ERROR for options that only a new session can have */
export function refuseOptions(engine: Engine, where: string, options: unknown, allowed: readonly string[]): void {
  if (!isObject(options)) return;
  const keys = ownKeys(options);
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i];
    if (typeof key !== 'string' || !hasOwn(options, key)) continue;
    let known = false;
    for (let j = 0; j < allowed.length; j += 1) known = known || allowed[j] === key;
    if (!known) {
      engine.fail('SCRIPT_ERROR', words`${where}: ${key} is decided when the session is created (docs/http-api.md)`);
    }
  }
}
