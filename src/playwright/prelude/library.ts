import type { Engine, Host } from '../../script/prelude/engine.js';

export interface LibraryParts {
  readonly host: Host;
  readonly engine: Engine;
  readonly page: () => object;
  readonly context: () => object;
  readonly expect: () => object;
}

/** `require('playwright')` and `require('@playwright/test')` of pasted code. */
export function libraryOf({ engine }: LibraryParts): (name: unknown) => unknown {
  return (name) => engine.fail('SCRIPT_ERROR', `There is no package ${String(name)} in scripts`);
}
