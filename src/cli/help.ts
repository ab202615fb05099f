import { AGENT_COMMANDS, type CommandHelp } from './agent/agent-help.js';

const CONNECTION_USAGE = '[--proxy URL|none] [--no-proxy LIST] [--ca FILE] [--cert HOST=FILE] [--passphrase VARIABLE]';

const CONNECTION_HELP = `Connection options, which win over the settings of the window:
  --proxy URL           a proxy, or none; by default those of HTTP_PROXY and HTTPS_PROXY
  --no-proxy LIST       hosts that are reached directly, with commas
  --ca FILE             trust this certificate authority, too (PEM); may be repeated
  --cert HOST=FILE      the client certificate for a host: FILE.pfx, or CERT.pem,KEY.pem; may be repeated
  --passphrase VARIABLE the environment variable with the passphrase of the client certificates`;

const COMMANDS: { readonly [command: string]: CommandHelp } = {
  setup: {
    usage: ['troupe setup [--brief] [--base IMAGE|debootstrap] [--launch-script FILE]'],
    summary: 'Checks this machine, creates the folders, and builds or pulls the worker image if Docker runs.',
    more: `  --brief               only check
  --base debootstrap    build the image without an image registry
  --launch-script FILE  write a start script`,
  },
  doctor: {
    usage: ['troupe doctor'],
    summary: 'Checks this machine as setup does, and changes nothing.',
    more: 'Each line says what was found, and how to fix it. Exit code: 1 if the service could not run.',
  },
  dashboard: {
    usage: [
      'troupe dashboard [--port N] [--host H] [--driver auto|docker|process] [--max-sessions N] [--forward PORT,...]',
      '                 [--stop-when-idle SECONDS]',
    ],
    summary: 'Runs the service: HTTP API, MCP, and dashboard.',
    more: `Flags win over troupe.json.
  --port N              port to listen on, 4444 by default; 0: a free one
  --host H              address to listen on, 127.0.0.1 by default; others need a token
  --driver D            where browsers run: docker containers, or processes of this machine
  --max-sessions N      browsers at once
  --forward PORT,...    ports of this machine that pages in containers reach as localhost
  --stop-when-idle N    end after N seconds without a client, a session, or a job`,
  },
  run: {
    usage: [
      'troupe run FILE|FOLDER|GLOB... [--prompt TEXT] [--model M] [--args NAME=TEXT|NAME:=JSON]... [--secret VARIABLE]...',
      '           [--list] [--grep RE|@TAG] [--last-failed] [--changed REF] [--shard I/N | --join BUILD] [--timings FILE] [--repeat-each N]',
      '           [--data FILE] [--state NAME]',
      '           [--parallel N] [--retries N] [--retry-strategy immediate|isolated] [--max-failures N | --fail-fast] [--fail-on-flaky] [--fail-on-repaired]',
      '           [--timeout SECONDS] [--act-timeout SECONDS] [--run-timeout SECONDS] [--report DIR] [--html DIR] [--junit FILE] [--ctrf FILE]',
      '           [--webhook URL] [--webhook-format standard|slack]',
      '           [--update-baselines] [--screenshots on|failures|off] [--har-bodies] [--trace on|off|on-failure] [--name TEXT] [--label NAME=TEXT]... [--flows DIR] [--url URL | --own] [--driver D]',
      '           [--video on|off|on-failure] [--headed] [--pause] [--watch] [--serve-anyway] [--forward PORT,...]',
    ],
    summary: 'Runs flows (.js, .ts) and tasks (.md) as jobs, waits for them, and collects reports.',
    more: `A FOLDER stands for all flows in it and below it.
Uses the service at --url or TROUPE_URL, or the one that runs for this home or user, or starts one of its own (always with --own).
Exit code: 0 all passed, 1 some did not, 2 the run could not start or was cancelled.
  --list                print which flows would run, and run none
  --grep RE             only flows whose path or a tag matches; @smoke: only flows with that tag in their first comment
  --last-failed         only flows that failed in the last run of this flows folder on this machine
  --shard I/N           only part I of N; divided by time with the durations of --timings, or of the service at --url
  --join BUILD          share the flows with all machines that name the same BUILD; the service at --url hands them out
  --timings FILE        durations of earlier runs: of troupe merge --timings, or a CTRF report
  --repeat-each N       run each flow N times
  --data FILE           run each flow once for each row of a CSV or JSON file; the columns are its arguments
  --changed REF         only flows that differ from this commit of git, or run a flow that does
  --state NAME          flows start with the login that agent.saveState(NAME) saved
  --parallel N          browsers at once
  --retries N           run a failed flow again, in a fresh browser
  --retry-strategy S    immediate: as soon as it failed; isolated: at the end, one at a time
  --max-failures N      stop after N failures; --fail-fast: after the first
  --fail-on-flaky       flows that passed only in a retry fail the run
  --fail-on-repaired    flows that failed, and that a model completed, fail the run
  --timeout SECONDS     the longest time of one flow
  --act-timeout SECONDS how long a call waits for its element, unless the call says so
  --run-timeout SECONDS the longest time of the run; what has not ended then is stopped, and reports are written
  --video WHEN          on, off, or on-failure: which flows have a video
  --screenshots WHICH   which steps have a picture: on (those that change what is seen), failures, or off
  --headed              opens the page of each flow in the dashboard, and prints its address
  --pause               a failed flow waits with its page open, until Enter or Done in the dashboard, an hour at most
  --watch               runs flows again when their files, or files that they run, change; Ctrl-C ends
  --serve-anyway        start "serve" of troupe-run.json although something is at its url; 404 and 5xx count as answers
  --har-bodies          network.har of each flow also has what requests sent and got, up to 256 KiB each
  --report DIR          write each flow's report there, and an index.html over all
  --html DIR            write only the index.html, and the pictures of failures
  --junit FILE          write one JUnit file
  --ctrf FILE           write one CTRF file (JSON)
  --webhook URL         send one message about the run there when it has ended; the service needs webhookSecret
  --webhook-format F    standard or slack; slack by itself for https://hooks.slack.com
  --args NAME=TEXT      an argument of every flow; NAME:=JSON for other values than text
  --secret VARIABLE     fills {{VARIABLE}} in flows from the environment; no report shows the value
  --prompt TEXT         what a model does after the flows; --model chooses it
A folder's _setup.js runs once before its flows, its _teardown.js once after them; what _setup returns is args.setup.
flows/quarantine.json lists flows whose failures do not fail the run: [{"flow", "until": "YYYY-MM-DD", "ticket"}]`,
  },
  merge: {
    usage: [
      'troupe merge REPORTS... [--html DIR] [--junit FILE] [--ctrf FILE] [--timings FILE] [--fail-on-flaky] [--fail-on-repaired]',
    ],
    summary: 'Makes one report of the report folders of several runs, such as the parts of --shard.',
    more: `REPORTS are folders that troupe run --report wrote. Parts of different flows, timings, or numbers of parts are refused.
The flows of a part without a folder count as stopped. Exit code: 0 all passed, 1 some did not, or a part is missing,
2 the folders are not parts of one run.
  --html DIR            write an index.html there, with links to the reports where they are
  --junit FILE          write one JUnit file
  --ctrf FILE           write one CTRF file (JSON)
  --timings FILE        write the durations of the flows that passed, for troupe run --timings
  --fail-on-flaky       flows that passed only in a retry fail the run
  --fail-on-repaired    flows that failed, and that a model completed, fail the run`,
  },
  eval: {
    usage: ["troupe eval [--session ID|last] [--url URL | --own] 'js' | -"],
    summary: 'Runs a script in a session and prints its value as JSON.',
    more: `Without --session, the session is a new one; last is the one of troupe session create and troupe go. - reads the script from standard input.
Example: troupe eval 'agent.go("https://example.com"); agent.look().elements.map(e => e.locator)'`,
  },
  why: {
    usage: ['troupe why [SESSION|RUN|REPORT] [--json] [--url URL]'],
    summary: 'Prints why a run or a session failed: the line, what the page showed, and what went wrong in it.',
    more: `Without an argument, the last run from this folder on this machine.
SESSION is the id of a session or job: of the service that runs, or that ran in this home.
RUN is the id of a run of a Playwright suite: prints why its tests failed.
REPORT is the folder that troupe run --report wrote, or the folder of one flow in it.
  --json                prints the failures as JSON`,
  },
  flow: {
    usage: ['troupe flow check [FILE|FOLDER|GLOB...] [--flows DIR] [--url PAGE]', 'troupe flow types'],
    summary: 'Checks flows without running them, or prints types for editors.',
    more: `check  reports mistakes in flows without running them
       --url PAGE  also opens PAGE and lists numbered locators that mean another element there than in the version
                   before, which did not count what was covered; may be repeated
types  prints agent-js.d.ts, the types for editors and tsc`,
  },
  types: {
    usage: ['troupe types [--flows DIR]'],
    summary: 'Writes troupe.d.ts, the types of flows, for editors and tsc.',
    more: `Writes it to the flows folder (./flows, or --flows), and prints the tsconfig.json that goes with it.
troupe flow types prints the same types.`,
  },
  nodes: {
    usage: ['troupe nodes [--url URL]', 'troupe nodes remove NODE [--url URL]'],
    summary: 'Lists the nodes that share a PostgreSQL database.',
    more: `Each line: id, state (up, draining, lost), running sessions of places, version, address, last renewal.
remove takes a lost node off the list. Needs an admin token in TROUPE_TOKEN if tokens exist.`,
  },
  health: {
    usage: ['troupe health [--live] [--url URL]'],
    summary: 'Says whether the service accepts work.',
    more: `Exit code: 0 if it does; 1 if it drains, fails, or does not answer; 2 if what answers starts, or is not known to be yours. For health checks of Docker and Kubernetes.
  --live                only whether it answers`,
  },
  drain: {
    usage: ['troupe drain [NODE] [--url URL]'],
    summary: 'Takes a node out without losing work.',
    more: `Without NODE, the node of this home. It takes no more jobs and live sessions; it stops when those that it has
have ended. SIGTERM does the same, for "drainTimeout" seconds at most.`,
  },
  migrate: {
    usage: ['troupe migrate --from FILE [--key FILE]'],
    summary: 'Copies a SQLite journal to the PostgreSQL database of this home.',
    more: `FILE is the troupe.db of a stopped service. The database that "database" of troupe.json names must be empty.
If it fails, nothing was copied. Stored requests are sealed anew with the key of this home.
  --key FILE            the key that FILE was sealed with; by default the troupe.key beside it`,
  },
  token: {
    usage: [
      'troupe token create NAME --role view|run|admin [--running N] [--queued N] [--per-minute N] [--url URL]',
      'troupe token list | revoke ID [--url URL]',
    ],
    summary: 'Creates, lists, and revokes access tokens.',
    more: `Once the first one exists, every request needs one. If the service runs, set TROUPE_TOKEN to
an admin token; if another user runs it, name it with --url.
  --running N           sessions at once
  --queued N            jobs that wait
  --per-minute N        sessions and jobs started within a minute`,
  },
  requests: {
    usage: [
      'troupe requests [COLLECTION.json] [--env FILE] [--port N] [--no-open]',
      `           ${CONNECTION_USAGE}`,
      'troupe requests import [FILE] [--json | --lines | --to sh|cmd|powershell] [--into FILE]',
      'troupe requests export COLLECTION.json --to har|insomnia|bruno|curl [--out FILE]',
      'troupe requests run COLLECTION.json [--env FILE] [--data FILE] [--iterations N] [--folder NAME] [--junit FILE]',
      '           [--timeout SECONDS]',
      `           ${CONNECTION_USAGE}`,
    ],
    summary: 'Sends HTTP requests: opens a window, imports what other tools export, or runs a Postman collection.',
    more: `A COLLECTION.json that does not exist is created.
  --no-open             only print the address of the window
import reads curl, fetch, HAR, OpenAPI, Insomnia, Bruno, or Postman from FILE or standard input, and prints the requests:
  --json                as one JSON value
  --lines               one curl command as a JSON string per line in, one JSON value per line out
  --to SHELL            as curl commands for a shell
  --into FILE           or adds them to a Postman collection
export writes a collection for another tool.
run sends the requests and runs their tests. Exit code: 0 all passed, 1 a request or a test failed.
${CONNECTION_HELP}`,
    parts: {
      import: {
        usage: ['troupe requests import [FILE] [--json | --lines | --to sh|cmd|powershell] [--into FILE]'],
        summary: 'Reads what other tools export, from FILE or standard input, and prints it as requests.',
        more: `The format is detected: curl, fetch, HAR, OpenAPI 3, Swagger 2, Insomnia 4 and 5, Bruno, Postman v1 and v2, environments.
  --json                as one JSON value
  --lines               one curl command as a JSON string per line in, one JSON value per line out
  --to SHELL            as curl commands for a shell
  --into FILE           or adds them to a Postman collection, and writes environments beside it
Exit code: 1 if something could not be imported.`,
      },
      export: {
        usage: ['troupe requests export COLLECTION.json --to har|insomnia|bruno|curl [--out FILE]'],
        summary: 'Writes a Postman collection for another tool.',
        more: `  --to FORMAT           har, insomnia (version 5), bruno, or curl
  --out FILE            a new file; without it, standard output
What the other format has no place for is named on standard error.`,
      },
      run: {
        usage: [
          'troupe requests run COLLECTION.json [--env FILE] [--data FILE] [--iterations N] [--folder NAME] [--junit FILE]',
          '           [--timeout SECONDS]',
          `           ${CONNECTION_USAGE}`,
        ],
        summary: 'Sends the requests of a Postman collection and runs their tests.',
        more: `  --env FILE            variables: an environment of Postman, or a JSON object
  --data FILE           one run for each row of a JSON list or a CSV file
  --iterations N        how many runs; more than rows repeat the last one
  --folder NAME         only this folder or request
  --junit FILE          write the results as JUnit
  --timeout SECONDS     the longest time of one request, 60 by default
${CONNECTION_HELP}
Exit code: 0 all passed, 1 a request or a test failed, 2 the run could not start.`,
      },
    },
  },
  ...AGENT_COMMANDS,
  completion: {
    usage: ['troupe completion bash|zsh|fish'],
    summary: 'Prints a script that completes commands and options in a shell.',
    more: `bash  eval "$(troupe completion bash)" in ~/.bashrc
zsh   eval "$(troupe completion zsh)" in ~/.zshrc, after compinit
fish  troupe completion fish > ~/.config/fish/completions/troupe.fish`,
  },
};

const HOME = 'The home is $TROUPE_HOME, else the current folder. Its settings are in troupe.json.\n';

/** Every command, in the order of the help. */
export function commandNames(): readonly string[] {
  return Object.keys(COMMANDS);
}

/** What can follow a command, by its usage: the words that begin it, and its options. Options of one that has words are all of its. */
export function wordsOf(command: string): {
  readonly summary: string;
  readonly words: readonly string[];
  readonly options: readonly string[];
} {
  const { usage, summary } = COMMANDS[command] ?? { usage: [], summary: '' };
  const text = usage.join('\n');
  const starts = [...text.matchAll(/^troupe [a-z]+ ([a-z]+(?:(?: [A-Z]+)?(?: \| |\|)[a-z]+)*)/gm)];
  const words = starts.flatMap(([, list = '']) => list.match(/[a-z]+/g) ?? []);
  const options = text.match(/--[a-z][a-z-]*/g) ?? [];
  return { summary, words, options: [...new Set(options), '--help'] };
}

/** The text for `troupe --help`, for one command, or for a part of it such as `requests run`. A command that does not exist gets the text for all. */
export function helpFor(command?: string, part?: string): string {
  const whole = command === undefined || !Object.hasOwn(COMMANDS, command) ? undefined : COMMANDS[command];
  const parts = whole?.parts ?? {};
  const one = part !== undefined && Object.hasOwn(parts, part) ? parts[part] : whole;
  if (one !== undefined) {
    return `Usage: ${one.usage.join('\n       ')}\n\n${one.summary}\n${one.more}\n\n${one.home ?? HOME}`;
  }
  const commands = Object.values(COMMANDS).map(({ usage, summary }) => `  ${usage.join('\n  ')}\n      ${summary}`);
  return `Usage: troupe <command> [options]

${commands.join('\n')}
  troupe --version | --help

troupe <command> --help explains the options of a command.
${HOME}`;
}
