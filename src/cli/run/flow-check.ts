import { checkFlow } from '../../agent-js/flows/flow-check.js';
import { scriptTypes } from '../../agent-js/script-api.js';
import { flowOfFile, isFlowFile } from '../../base/flow-file.js';
import { UsageError } from '../failure.js';
import { parseWords } from '../parse-options.js';
import { findRunFiles } from './run-files.js';

/**
 * `troupe flow check|types`, for those who write flows.
 * @returns 1 when a flow has faults
 */
export async function runFlow(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'check':
      return check(rest);
    case 'types':
      process.stdout.write(scriptTypes());
      return 0;
    default:
      throw new UsageError(`troupe flow takes check or types${command === undefined ? '' : `, not '${command}'`}`);
  }
}

async function check(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { flows: { type: 'string' } });
  const words = positionals.length === 0 ? ['flows/**/*.{js,ts}'] : positionals;
  const { root, named, texts } = await findRunFiles(words, { cwd: process.cwd(), bases: [], flows: values.flows });
  let faults = 0;
  const flows = named.filter(isFlowFile);
  for (const path of flows) {
    const folder = path.split('/').slice(0, -1);
    const hasFlow = (wanted: string) => {
      const bare = flowPath(wanted, folder);
      return Object.hasOwn(texts, `${bare}.js`) || Object.hasOwn(texts, `${bare}.ts`);
    };
    for (const { line, column, message } of checkFlow(texts[path] ?? '', hasFlow, path)) {
      process.stdout.write(`${path}:${line}:${column}: ${message}\n`);
      faults += 1;
    }
  }
  process.stdout.write(`${flows.length} flows in ${root ?? '.'}, ${faults === 0 ? 'no faults' : `${faults} faults`}\n`);
  return faults === 0 ? 0 : 1;
}

/** A path of Flow.run as the flows folder has it: `../` and `../../` lead on from the flow's own folder. */
function flowPath(wanted: string, folder: readonly string[]): string {
  const bare = flowOfFile(wanted);
  const segments = /^\.\.?\//.test(bare) ? [...folder] : [];
  for (const segment of bare.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}
