import { isFlowFile } from '../../base/flow-file.js';
import { TroupeError } from '../../protocol/errors.js';
import { readInside } from './flow-folder.js';
import { stripTypes } from './strip-types.js';

/** A flow's file. */
export interface FlowSource {
  /** In the flows folder: `shop/login.ts`. */
  readonly file: string;
  /** As its author wrote it. */
  readonly source: string;
}

/**
 * Reads `<path>.js` or `<path>.ts`. Null if there is neither.
 * @param path without extension
 * @throws SCRIPT_ERROR for a path that leads out of the folder, a file of more than `maxBytes`, and for two files that
 * have the same path
 */
export async function readFlow(flowsDir: string, path: string, maxBytes: number): Promise<FlowSource | null> {
  const [js, ts] = await Promise.all(
    ['js', 'ts'].map((extension) => readInside(flowsDir, `${path}.${extension}`, maxBytes)),
  );
  if (js != null && ts != null) {
    throw new TroupeError(
      'SCRIPT_ERROR',
      `flows/${path}.js and flows/${path}.ts are the same flow; delete one of them`,
    );
  }
  // `x.d.ts` has types alone.
  if (ts != null && isFlowFile(`${path}.ts`)) return { file: `${path}.ts`, source: ts };
  return js == null ? null : { file: `${path}.js`, source: js };
}

/** A flow's JavaScript, with the author's lines and columns. @throws SCRIPT_ERROR with line and column for TypeScript that does not parse, or is more than types */
export function flowCode(file: string, source: string): string {
  return file.endsWith('.ts') ? stripTypes(source) : source;
}
