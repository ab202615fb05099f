import { posix } from 'node:path';
import { flowOfFile } from '../../base/flow-file.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { readBundle } from '../../script/bundle.js';
import type { HostModule } from '../../script/host-module.js';
import { refused } from './flow-folder.js';
import { flowCode, readFlow } from './read-flow.js';

/** Bytes of a flow file. */
const MAX_FLOW_BYTES = 1024 * 1024;

export interface FlowOptions {
  /** Absolute; need not exist yet. */
  readonly flowsDir: string;
  /** Called with each flow that is to run. */
  readonly onLoad?: ((flow: string, source: string) => void) | undefined;
}

/**
 * `Flow.run(path, args?)` of scripts: runs `flows/<path>.js` or `.ts` in the same context and answers its value. The file's body
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
        const flow = await readFlow(flowsDir, name, MAX_FLOW_BYTES);
        if (flow === null) {
          const tried = `flows/${name}.js, flows/${name}.ts`;
          throw new TroupeError('FLOW_NOT_FOUND', `There is no flow '${name}' (${tried})`, { path: name });
        }
        const { file, source } = flow;
        onLoad?.(name, source);
        if (file.endsWith('.js')) return { path: name, file, source };
        try {
          return { path: name, file, source, code: flowCode(file, source) };
        } catch (error) {
          // The flow has begun when its source turns out to be wrong, as for JavaScript.
          return { path: name, file, source, fault: JSON.stringify(encodeError(error)) };
        }
      },
    },
  };
}

/** The one name of a flow: no extension, no `../`, no doubled slashes. `../` and `../../` lead on from the flow that calls. */
export function flowName(path: string, caller: string | null): string {
  const bare = flowOfFile(path).replace(/\/{2,}/g, '/');
  if (caller !== null && /^\.\.?\//.test(bare)) return posix.join(posix.dirname(caller), bare);
  return bare.replace(/^(\.\/)+/, '');
}
