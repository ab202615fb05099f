import type { Engine, Host } from '../../script/prelude/engine.js';
import { isObject, read } from '../../script/prelude/primordials.js';

/** Defines `Flow`. */
export function install(host: Host, engine: Engine): void {
  Reflect.set(globalThis, 'Flow', {
    run: (path: unknown, args: unknown = {}): unknown => {
      const flow = host('load', path);
      const name = isObject(flow) ? read(flow, 'path') : undefined;
      const source = isObject(flow) ? read(flow, 'source') : undefined;
      if (typeof name !== 'string' || typeof source !== 'string')
        return engine.fail('INTERNAL', 'The flow has no source');
      const code = isObject(flow) ? read(flow, 'code') : undefined;
      const file = isObject(flow) ? read(flow, 'file') : undefined;
      const fault = isObject(flow) ? read(flow, 'fault') : undefined;
      return engine.runFlow(
        name,
        source,
        args,
        typeof code === 'string' ? code : source,
        typeof fault === 'string' ? fault : '',
        typeof file === 'string' ? file : '',
      );
    },
  });
}
