import type { Engine, Host } from '#troupe/script/prelude/engine.js';
import { installOwnGlobals, type OwnState } from './own-globals.js';
import { makeScripts } from './postman/scripts.js';

/**
 * Defines `request`, `response`, and `$script`, with which the host runs each script. Their values are requested from the
 * host, since one sandbox serves many requests. Postman's names are parameters of the script, so that it may declare them.
 */
export function install(host: Host, engine: Engine): void {
  const own = installOwnGlobals(host);
  const scripts = makeScripts(host, () => (own() as OwnState).response);
  engine.onIdle(scripts.idle);
  Reflect.set(globalThis, '$script', scripts.run);
}
