import { describeFailure, UsageError } from './failure.js';
import { outliveReaders } from './lost-readers.js';
import { readVersion } from './version.js';

const USAGE = `Usage: troupe <command> [options]

  troupe setup [--brief] [--base IMAGE|debootstrap] [--launch-script FILE]
      checks this machine, creates the folders, and builds or pulls the worker image where Docker runs; --brief only
      checks; --base debootstrap builds it without an image registry; --launch-script writes a start script
  troupe dashboard [--port N] [--host H] [--driver auto|docker|process] [--max-sessions N]
                   [--forward PORT,...]
      runs the service: HTTP API and dashboard; --forward lets pages in containers reach ports of this machine as
      localhost
  troupe run FILE|GLOB... [--prompt TEXT] [--model M] [--args NAME=TEXT|NAME:=JSON]... [--secret VARIABLE]...
             [--grep RE] [--shard I/N] [--parallel N] [--retries N] [--fail-fast] [--timeout SECONDS]
             [--report DIR] [--junit FILE] [--exact-screenshots] [--name TEXT] [--label NAME=TEXT]... [--flows DIR]
             [--url URL | --own] [--driver D] [--forward PORT,...]
      runs flows (.js) and tasks (.md) as jobs: on the service at --url or TROUPE_URL, else on the one that runs here,
      else (or with --own) on one of its own; exit code 0: all completed, 1: some did not, 2: it could not run
  troupe eval [--session ID] [--url URL | --own] 'js' | -
      runs a script in a session that is there, or in one of its own, and prints its value as JSON
  troupe flow check [FILE|GLOB...] [--flows DIR] | types
      says what cannot work in flows without running them; types prints agent-js.d.ts for editors
  troupe token create NAME --role view|run|admin [--running N] [--queued N] [--per-minute N] [--url URL]
  troupe token list | revoke ID [--url URL]
      access tokens: with the first one the service wants a token of everybody; limits are sessions that run, jobs that
      wait, and both that are begun in a minute. A service that runs is asked with the token in TROUPE_TOKEN
  troupe requests [COLLECTION.json] [--env FILE] [--port N] [--no-open]
      opens the window of the request client; --no-open only prints its address
  troupe requests import [--json | --lines | --to sh|cmd|powershell] [--into FILE]
      curl commands on standard input to requests: to read, as JSON, one JSON value a line for one JSON string a line,
      or as curl commands for another shell; --into adds them to a Postman collection
  troupe requests run COLLECTION.json [--env FILE] [--folder NAME] [--junit FILE] [--timeout SECONDS]
      sends the requests of a Postman collection and runs their tests; exit code 1 when one failed
  troupe --version | --help

The folder of the service is $TROUPE_HOME, by default the current one; its settings are in troupe.json there.
`;

/**
 * Runs one command. Commands are loaded when they are called, so that `setup` can say what keeps the others from
 * loading.
 *
 * @returns the exit code: 0 done, 1 it failed, 2 it was called wrongly
 */
export async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  outliveReaders(command);
  if (rest.includes('--help') || rest.includes('-h')) return await main(['--help']);
  try {
    switch (command) {
      case 'setup':
        return await (await import('./setup/setup.js')).runSetup(rest);
      case 'dashboard':
        return await (await import('./dashboard.js')).runDashboard(rest);
      case 'run':
        return await (await import('./run/run.js')).runFlows(rest);
      case 'eval':
        return await (await import('./eval.js')).runEval(rest);
      case 'flow':
        return await (await import('./run/flow-check.js')).runFlow(rest);
      case 'token':
        return await (await import('./token.js')).runToken(rest);
      case 'requests':
        return await (await import('./requests/requests.js')).runRequests(rest);
      case '--version':
      case '-v':
        process.stdout.write(`${readVersion()}\n`);
        return 0;
      case '--help':
      case '-h':
      case 'help':
        process.stdout.write(USAGE);
        return 0;
      case undefined:
        process.stderr.write(USAGE);
        return 2;
      default:
        throw new UsageError(`There is no command '${command}'`);
    }
  } catch (error) {
    process.stderr.write(`troupe: ${describeFailure(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${USAGE}`);
    return error instanceof UsageError ? 2 : 1;
  }
}
