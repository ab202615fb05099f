import { PRODUCT_NAME } from '../protocol/product-name.js';
import { didYouMean } from '../terminal/closest-word.js';
import { describeFailure, UnprovenService, UsageError } from '../terminal/failure.js';
import { heedNohup } from '../terminal/hang-up.js';
import { print, printError } from '../terminal/output.js';
import { asTyped, typedCommand } from '../terminal/typed-command.js';
import { commandIn, commandNames, helpFor } from './help.js';
import { readVersion } from './version.js';

/** A reader that has enough, as in `troupe setup | head -1`; a terminal that is gone. */
const GONE = ['EPIPE', 'EIO'];

let isService = false;
let listens = false;

/**
 * Runs one command. Commands are loaded when they are called, so that `setup` can say what keeps the others from
 * loading.
 *
 * @returns the exit code: 0 done, 1 it failed, 2 it was called wrongly
 */
export async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  outliveReaders(command);
  heedNohup();
  try {
    const asked = rest.findIndex((word) => word === '--help' || word === '-h');
    if (command !== undefined && isCommand(command) && asked >= 0) {
      print(asTyped(helpFor(argv, { all: rest[asked + 1] === 'all' })));
      return 0;
    }
    switch (command) {
      case 'setup':
        return await (await import('./setup/setup.js')).runSetup(rest);
      case 'doctor':
        return await (await import('./setup/setup.js')).runDoctor(rest);
      case 'dashboard':
        return await (await import('./dashboard.js')).runDashboard(rest);
      case 'run':
        return await (await import('./run/run.js')).runFlows(rest);
      case 'merge':
        return await (await import('./merge/merge.js')).runMerge(rest);
      case 'eval':
        return await (await import('./eval.js')).runEval(rest);
      case 'why':
        return await (await import('./why.js')).runWhy(rest);
      case 'flow':
        return await (await import('./run/flow-check.js')).runFlow(rest);
      case 'types':
        return await (await import('./run/types-command.js')).runTypes(rest);
      case 'token':
        return await (await import('./token.js')).runToken(rest);
      case 'nodes':
        return await (await import('./nodes.js')).runNodes(rest);
      case 'drain':
        return await (await import('./nodes.js')).runDrain(rest);
      case 'health':
        return await (await import('./nodes.js')).runHealth(rest);
      case 'migrate':
        return await (await import('./migrate.js')).runMigrate(rest);
      case 'requests':
        return await (await import('#request-client')).runRequests(rest);
      case 'session':
        return await (await import('./agent/session-command.js')).runSession(rest);
      case 'look':
        return await (await import('./agent/page-commands.js')).runLook(rest);
      case 'go':
        return await (await import('./agent/page-commands.js')).runGo(rest);
      case 'act':
        return await (await import('./agent/page-commands.js')).runAct(rest);
      case 'text':
        return await (await import('./agent/page-commands.js')).runText(rest);
      case 'shot':
        return await (await import('./agent/page-commands.js')).runShot(rest);
      case 'skill':
        return await (await import('./agent/skill.js')).runSkill(rest);
      case 'mcp':
        return await (await import('./mcp/mcp.js')).runMcp(rest);
      case 'completion':
        return (await import('./completion.js')).runCompletion(rest);
      case '--version':
      case '-v':
        print(`${readVersion()}\n`);
        return 0;
      case '--help':
      case '-h':
      case 'help':
        if (rest[0] !== undefined && rest[0] !== 'all' && !isCommand(rest[0])) throw unknownCommand(rest[0]);
        print(asTyped(helpFor(rest, { all: rest.at(-1) === 'all' })));
        return 0;
      case undefined:
        printError(asTyped(helpFor()));
        return 2;
      default:
        throw unknownCommand(command);
    }
  } catch (error) {
    printError(`${PRODUCT_NAME}: ${describeFailure(error)}\n`);
    if (error instanceof UsageError) {
      const topic = [typedCommand(), commandIn(argv)?.name ?? '', '--help'].filter((word) => word !== '').join(' ');
      printError(`Run '${topic}' for usage.\n`);
    }
    return error instanceof UsageError || error instanceof UnprovenService ? 2 : 1;
  }
}

function isCommand(word: string): boolean {
  return commandNames().includes(word);
}

function unknownCommand(word: string): UsageError {
  return new UsageError(`Unknown command '${word}'${didYouMean(word, commandNames())}`);
}

/**
 * Keeps output that nobody reads any more from ending the process: what is left to say goes unsaid. For a service that holds
 * for every fault of its output, such as a full disk under its log: its sessions are worth more than its words. May be
 * called again.
 */
function outliveReaders(command: string | undefined): void {
  isService = command === 'dashboard';
  if (listens) return;
  listens = true;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!isService && !GONE.includes(error.code ?? '')) throw error;
    });
  }
}
