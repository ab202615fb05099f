import { posix } from 'node:path';
import { TroupeError } from '../../protocol/errors.js';
import { readBundle } from '../../script/bundle.js';
import type { HostModule } from '../../script/host-module.js';
import { readInside, refused } from './flow-folder.js';

/** Bytes of a flow file. */
const MAX_FLOW_BYTES = 1024 * 1024;

export interface FlowOptions {
  /** Absolute; need not exist yet. */
  readonly flowsDir: string;
  /** Called with each flow that is to run. */
  readonly onLoad?: ((flow: string, source: string) => void) | undefined;
}

/**
 * `Flow.run(path, args?)` of scripts: runs `flows/<path>.js` in the same context and answers its value. The file's body
 * is `function (args) {...}`, an arrow (async too), or a plain script that sees `args`. A path that begins with `../` or `../../`
 * leads on from the folder of the flow that calls, so that flows can be moved together. FLOW_NOT_FOUND when there is no
 * such file; SCRIPT_ERROR for a path that leads out of the folder.
 */
export function flowModule({ flowsDir, onLoad }: FlowOptions): HostModule {
  return {
    name: 'flow',
    prelude: readBundle(import.meta.url, '../prelude/flow'),
    calls: {
      load: async ([path], { site }) => {
        if (typeof path !== 'string') throw new TroupeError('SCRIPT_ERROR', 'Flow.run needs the path of a flow');
        const name = flowName(path, site.flow);
        if (name === '') throw refused(path, 'it names no flow');
        const source = await readInside(flowsDir, `${name}.js`, MAX_FLOW_BYTES);
        if (source === null) {
          throw new TroupeError('FLOW_NOT_FOUND', `There is no flow '${name}' (flows/${name}.js)`, { path: name });
        }
        onLoad?.(name, source);
        return { path: name, source };
      },
    },
  };
}

/** The one name of a flow: no extension, no `../`, no doubled slashes. `../` and `../../` lead on from the flow that calls. */
function flowName(path: string, caller: string | null): string {
  const bare = path.replace(/\.js$/, '').replace(/\/{2,}/g, '/');
  if (caller !== null && /^\.\.?\//.test(bare)) return posix.join(posix.dirname(caller), bare);
  return bare.replace(/^(\.\/)+/, '');
}
