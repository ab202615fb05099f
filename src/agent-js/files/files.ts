import { readBundle } from '../../script/bundle.js';
import type { HostModule } from '../../script/host-module.js';
import { MAX_FILE_BYTES, pathInside, readInside, refused } from '../flows/flow-folder.js';
import { writeInside } from '../flows/write-inside.js';
import { listInside } from './list-inside.js';

export interface FilesOptions {
  /** Absolute; made when something is written. */
  readonly flowsDir: string;
}

/**
 * `File.write(path, text)`, `File.read(path)` and `File.list(glob?)` of scripts, under the flows folder and nowhere else.
 * A file is written whole or not at all. Everything that is refused is SCRIPT_ERROR and says why.
 */
export function filesModule({ flowsDir }: FilesOptions): HostModule {
  return {
    name: 'files',
    prelude: readBundle(import.meta.url, '../prelude/files'),
    calls: {
      write: async ([path, text]) => {
        if (typeof text !== 'string') throw refused(path, 'what is written has to be a text');
        return writeInside(flowsDir, path, text);
      },
      read: async ([path]) => {
        pathInside(flowsDir, path);
        const text = await readInside(flowsDir, String(path), MAX_FILE_BYTES);
        if (text !== null) return text;
        throw refused(path, 'there is no such file');
      },
      list: async ([glob], { signal }) => {
        if (glob !== undefined && glob !== null && typeof glob !== 'string') throw refused(glob, 'a glob is a text');
        if (/^\/|(^|\/)\.\.(\/|$)/.test(glob ?? '')) throw refused(glob, 'it leads out of the flows folder');
        return listInside(flowsDir, glob ?? '**', signal);
      },
    },
  };
}
