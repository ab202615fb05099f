import { z } from 'zod';
import { checkFlow, newlyCalled, numberedLocators } from '../../agent-js/flows/flow-check.js';
import { scriptTypes } from '../../agent-js/script-api.js';
import { flowOfFile, isFlowFile } from '../../base/flow-file.js';
import { counted } from '../../protocol/counted.js';
import { FLOW_CHECK, FLOW_TYPES } from '../../terminal/commands/run-commands.js';
import { print } from '../../terminal/output.js';
import { parseOptions, parseWords, unknownSubcommand } from '../../terminal/parse-options.js';
import { agentService } from '../agent/used-session.js';
import { findRunFiles } from './plan/run-files.js';

const Moved = z.array(z.object({ locator: z.string(), now: z.string().nullable() }));

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
      parseOptions(rest, FLOW_TYPES);
      print(scriptTypes());
      return 0;
    default:
      throw unknownSubcommand(command, ['check', 'types']);
  }
}

async function check(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, FLOW_CHECK);
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
      print(`${path}:${line}:${column}: ${message}\n`);
      faults += 1;
    }
    const called = newlyCalled(texts[path] ?? '', path);
    if (called !== null) {
      const at = `${path}:${called.line}:${called.column}`;
      print(`${at}: note: this function is the flow and is called; earlier versions never called it\n`);
    }
  }
  for (const page of values.url ?? [])
    faults += await checkNumbers(
      page,
      flows.map((path) => [path, texts[path] ?? '']),
    );
  print(
    `${counted(flows.length, 'flow')} in ${root ?? '.'}, ${faults === 0 ? 'no errors' : counted(faults, 'error')}\n`,
  );
  return faults === 0 ? 0 : 1;
}

/** Prints the numbered locators that mean another element of the page than in the version before. @returns how many */
async function checkNumbers(page: string, flows: readonly (readonly [path: string, text: string])[]): Promise<number> {
  const used = flows.flatMap(([path, text]) => numberedLocators(text, path).map((one) => ({ ...one, path })));
  const moved = await movedNumbers(page, [...new Set(used.map(({ locator }) => locator))]);
  let faults = 0;
  for (const { path, line, column, locator } of used) {
    const now = moved.get(locator);
    if (now === undefined) continue;
    const what =
      now === null
        ? 'matched an element that no longer counts, since it is behind a modal dialog: close the dialog first'
        : `matched the element that is ${now} now: use ${now}, or a name that only it has`;
    print(`${path}:${line}:${column}: On ${page}, ${locator} ${what}\n`);
    faults += 1;
  }
  return faults;
}

/** By locator, what the element that it meant in the version before is called now; null: it is behind a modal dialog. In a session of its own. */
async function movedNumbers(page: string, locators: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const troupe = await agentService(undefined);
  const session = await troupe.sessions.create({ name: 'troupe flow check' });
  try {
    const script = `agent.go(${JSON.stringify(page)}); agent.wait('idle'); agent.recount(${JSON.stringify(locators)})`;
    const moved = Moved.parse(await session.run(script));
    return new Map(moved.map(({ locator, now }) => [locator, now]));
  } finally {
    await session.stop();
  }
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
