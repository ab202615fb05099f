import { readInside } from '../agent-js/flows/flow-folder.js';
import { leadingComment } from '../agent-js/flows/leading-comment.js';
import { readFlow } from '../agent-js/flows/read-flow.js';
import { flowOfFile, isFlowFile } from '../base/flow-file.js';
import { asAbsent } from '../base/system-fault.js';
import type { ErrorBody } from '../protocol/errors.js';
import { causeOf } from '../protocol/report/failure-of-error.js';
import type { FlowBrief, FlowsBefore, TaskBrief } from './prompt.js';

/** The most bytes of a flow or task file that are read for a prompt. */
const MAX_FILE_BYTES = 256 * 1024;

/** A task before its files are read. */
export interface TaskOutline {
  readonly prompt: string;
  /** `.js`, `.ts` and `.md` files, as in the request. */
  readonly flowFiles: readonly string[];
  readonly args: readonly string[];
  readonly secrets: readonly string[];
  /** The flow that failed, by its file; null if all passed, or there were none. */
  readonly failed: { readonly flow: string; readonly error: ErrorBody } | null;
}

/** Reads the files that a prompt contains. A file that was deleted meanwhile is included without text. */
export async function readBrief(flowsDir: string, outline: TaskOutline): Promise<TaskBrief> {
  const { prompt, flowFiles, args, secrets } = outline;
  const read = async (path: string) => (await readInside(flowsDir, path, MAX_FILE_BYTES).catch(asAbsent)) ?? '';
  const scripts = flowFiles.filter(isFlowFile);
  const notes = flowFiles.filter((file) => file.endsWith('.md'));
  return {
    prompt,
    args,
    secrets,
    notes: await Promise.all(notes.map(async (path) => ({ path, text: await read(path) }))),
    flows: await Promise.all(
      scripts.map(
        async (file): Promise<FlowBrief> => ({ path: flowOfFile(file), about: leadingComment(await read(file)) }),
      ),
    ),
    before: await readBefore(flowsDir, outline, scripts),
  };
}

async function readBefore(flowsDir: string, { failed }: TaskOutline, scripts: readonly string[]): Promise<FlowsBefore> {
  if (failed === null) return { kind: scripts.length === 0 ? 'none' : 'passed' };
  const { flow, error } = failed;
  const { cause } = causeOf(error);
  const { details } = cause;
  const innermost = typeof details?.flow === 'string' ? details.flow : flowOfFile(flow);
  const line = typeof details?.line === 'number' ? details.line : null;
  const outermost = flowOfFile(flow);
  const paths = innermost === outermost ? [innermost] : [innermost, outermost];
  const sources = await Promise.all(
    paths.map(async (path) => {
      const flow = await readFlow(flowsDir, path, MAX_FILE_BYTES).catch(asAbsent);
      const { file, source } = flow ?? { file: `${path}.js`, source: '' };
      return { file, line: path === innermost ? line : null, isAfter: typeof details?.column !== 'number', source };
    }),
  );
  const notBegun = scripts.slice(scripts.indexOf(flow) + 1).map(flowOfFile);
  return { kind: 'failed', flow: outermost, error: cause, sources, notBegun };
}
