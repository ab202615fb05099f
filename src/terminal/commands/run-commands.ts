import { type Command, FAIL_ON_FLAKY, FAIL_ON_REPAIRED, URL_OPTION } from './command.js';

const CHOICE = 'Choose flows';
const INPUT = 'Input of flows';
const LIMITS = 'Retries and limits';
const DEBUGGING = 'Watch and debug';
const RECORDING = 'Recording';
const REPORTS = 'Reports';
const SERVICE = 'Browsers and service';

export const RUN = {
  name: 'run',
  usage: ['FILE|FOLDER|GLOB... [options]'],
  summary: 'Run flows (`.js`, `.ts`) and tasks (`.md`), and report which passed',
  details: [
    'A FOLDER stands for all flows in it and below it.',
    'Without `--url`, the run uses the service of `TROUPE_URL`, of this home, or of this user, or starts one of its own.',
    '`_setup.js` of a folder runs once before its flows, `_teardown.js` once after them; what `_setup.js` returns is `args.setup`.',
    '`flows/quarantine.json` lists flows whose failures do not fail the run: `[{"flow", "until": "YYYY-MM-DD", "ticket"}]`.',
  ],
  example: 'troupe run flows/shop --parallel 4 --retries 1 --junit results.xml',
  options: {
    list: { type: 'boolean', text: 'List the flows that would run, and run none', group: CHOICE, main: true },
    grep: {
      type: 'string',
      value: 'RE|@TAG',
      text: 'Run only flows whose path or tag matches RE, or with @TAG',
      group: CHOICE,
      main: true,
    },
    'last-failed': {
      type: 'boolean',
      text: 'Run only flows that failed in the last run here',
      group: CHOICE,
      main: true,
    },
    changed: {
      type: 'string',
      value: 'REF',
      text: 'Run only flows that differ from this commit of Git, or that run a flow that does',
      group: CHOICE,
    },
    'repeat-each': { type: 'string', value: 'N', text: 'Run each flow N times', group: CHOICE },
    shard: {
      type: 'string',
      value: 'I/N',
      text: 'Run only part I of N, divided by the durations of `--timings` or of the service at `--url`',
      group: CHOICE,
    },
    join: {
      type: 'string',
      value: 'BUILD',
      text: 'Share the flows with all machines that name the same BUILD; the service at `--url` hands them out',
      group: CHOICE,
    },
    timings: {
      type: 'string',
      value: 'FILE',
      text: 'Read the durations for `--shard` or `--join` from FILE, of `troupe merge --timings` or a CTRF report',
      group: CHOICE,
    },
    flows: {
      type: 'string',
      value: 'DIR',
      text: 'Use DIR as the flows folder, not the nearest folder named flows',
      group: CHOICE,
    },
    args: {
      type: 'string',
      value: 'NAME=TEXT',
      multiple: true,
      text: 'Pass an argument to flows, or `NAME:=JSON`',
      group: INPUT,
      main: true,
    },
    data: {
      type: 'string',
      value: 'FILE',
      text: 'Run each flow once for each row of a CSV or JSON file; the columns are its arguments',
      group: INPUT,
    },
    secret: {
      type: 'string',
      value: 'VARIABLE',
      multiple: true,
      text: 'Fill `{{VARIABLE}}` in flows from the environment; no report shows the value',
      group: INPUT,
    },
    state: {
      type: 'string',
      value: 'NAME',
      text: 'Start flows with the login state that `agent.saveState(NAME)` saved',
      group: INPUT,
    },
    prompt: { type: 'string', value: 'TEXT', text: 'Let a model do what TEXT says, after the flows', group: INPUT },
    model: {
      type: 'string',
      value: 'NAME',
      text: 'Use this model of `troupe.json` (default: the first one)',
      group: INPUT,
    },
    parallel: { type: 'string', value: 'N', text: 'Use at most N browsers at once', group: LIMITS, main: true },
    retries: {
      type: 'string',
      value: 'N',
      text: 'Retry a failed flow up to N times, in a fresh browser',
      group: LIMITS,
      main: true,
    },
    'retry-strategy': {
      type: 'string',
      value: 'WHEN',
      text: 'Retry immediate (as soon as a flow has failed, the default) or isolated (at the end, one at a time)',
      group: LIMITS,
    },
    'max-failures': { type: 'string', value: 'N', text: 'Stop the run after N failures', group: LIMITS },
    'fail-fast': { type: 'boolean', text: 'Stop the run after the first failure', group: LIMITS },
    'fail-on-flaky': { ...FAIL_ON_FLAKY, group: LIMITS },
    'fail-on-repaired': { ...FAIL_ON_REPAIRED, group: LIMITS },
    timeout: { type: 'string', value: 'SECONDS', text: 'Limit the time of each flow', group: LIMITS },
    'act-timeout': {
      type: 'string',
      value: 'SECONDS',
      text: 'Limit how long a call waits for its element, unless the call sets a timeout',
      group: LIMITS,
    },
    'run-timeout': {
      type: 'string',
      value: 'SECONDS',
      text: 'Limit the time of the run; the rest is stopped, and reports are written',
      group: LIMITS,
    },
    headed: {
      type: 'boolean',
      text: "Open each flow's page in the dashboard, and print its URL",
      group: DEBUGGING,
      main: true,
    },
    pause: {
      type: 'boolean',
      text: 'Keep the page of a failed flow open until Enter or Done in the dashboard, an hour at most',
      group: DEBUGGING,
    },
    watch: {
      type: 'boolean',
      text: 'Run flows again when their files change; Ctrl-C ends',
      group: DEBUGGING,
      main: true,
    },
    video: {
      type: 'string',
      value: 'WHEN',
      text: 'Record a video: on, off, or on-failure',
      group: RECORDING,
      main: true,
    },
    screenshots: {
      type: 'string',
      value: 'WHICH',
      text: 'Take screenshots of steps: on (those that change the page), failures, or off',
      group: RECORDING,
    },
    'exact-screenshots': { type: 'boolean', text: 'Former name of `--screenshots on`', group: RECORDING, former: true },
    trace: {
      type: 'string',
      value: 'WHEN',
      text: "Record a trace for Playwright's viewer: on, off, or on-failure",
      group: RECORDING,
    },
    'har-bodies': {
      type: 'boolean',
      text: 'Add the bodies of requests and responses to `network.har`, up to 256 KiB each',
      group: RECORDING,
    },
    'update-baselines': {
      type: 'boolean',
      text: 'Store what expectScreenshot and expectLook see as baselines, without comparing',
      group: RECORDING,
    },
    report: {
      type: 'string',
      value: 'DIR',
      text: 'Write the report of each flow and an `index.html` to DIR',
      group: REPORTS,
      main: true,
    },
    html: {
      type: 'string',
      value: 'DIR',
      text: 'Write only an `index.html` and pictures of failures to DIR',
      group: REPORTS,
    },
    junit: { type: 'string', value: 'FILE', text: 'Write a JUnit report', group: REPORTS, main: true },
    ctrf: { type: 'string', value: 'FILE', text: 'Write a CTRF report (JSON)', group: REPORTS },
    webhook: {
      type: 'string',
      value: 'URL',
      text: 'Send one message to URL when the run has ended; the service needs webhookSecret',
      group: REPORTS,
    },
    'webhook-format': {
      type: 'string',
      value: 'FORMAT',
      text: 'Send the message as standard or slack (default for https://hooks.slack.com: slack)',
      group: REPORTS,
    },
    name: { type: 'string', value: 'TEXT', text: 'Name the run in the dashboard and in lists', group: REPORTS },
    label: {
      type: 'string',
      value: 'NAME=TEXT',
      multiple: true,
      text: 'Label the run in the dashboard and in lists, such as branch=main',
      group: REPORTS,
    },
    url: {
      type: 'string',
      value: 'URL',
      text: 'Use the service at URL (default: `TROUPE_URL`)',
      group: SERVICE,
      main: true,
    },
    own: { type: 'boolean', text: 'Start a service for this run alone', group: SERVICE },
    driver: {
      type: 'string',
      value: 'DRIVER',
      text: 'Run browsers in containers (docker), as processes (process), or auto, if the run starts a service',
      group: SERVICE,
    },
    forward: {
      type: 'string',
      value: 'PORT,...',
      text: "Let pages in containers reach these ports of the service's machine as localhost",
      group: SERVICE,
    },
    'serve-anyway': {
      type: 'boolean',
      text: 'Start "serve" of `troupe-run.json` even if something is at its url; 404 and 5xx count as answers',
      group: SERVICE,
    },
  },
  exitCodes: ['every flow passed', 'a flow did not pass', 'the run could not start, or was cancelled'],
  home: 'folder',
} as const satisfies Command;

export const WHY = {
  name: 'why',
  usage: ['[RUN|SESSION|FOLDER] [options]'],
  summary: 'Show why the last run failed, or another run or session',
  notes: [
    'Without an argument, it is the last run from this folder on this machine.',
    'RUN is the id of a run of a Playwright suite, SESSION that of a session.',
    'FOLDER is what `troupe run --report` wrote, or the folder of one flow in it.',
  ],
  example: 'troupe why results/shop',
  options: {
    json: { type: 'boolean', text: 'Print the failures as JSON' },
    url: URL_OPTION,
  },
  exitCodes: ['printed, even if nothing failed', 'an error', 'no such run, session, or report'],
  home: 'folder',
} as const satisfies Command;

export const MERGE = {
  name: 'merge',
  usage: ['FOLDER... [options]'],
  summary: 'Merge the reports of several runs into one',
  notes: [
    'Each FOLDER is one that `troupe run --report` wrote, such as a part of `--shard`.',
    'Name at least one report to write.',
    'Flows of a part without a folder count as not run.',
  ],
  details: ['Parts with different flows, timings, or numbers of parts are refused.'],
  example: 'troupe merge part-1 part-2 --html merged --junit results.xml',
  options: {
    html: { type: 'string', value: 'DIR', text: 'Write an `index.html` to DIR, with links to the merged reports' },
    junit: { type: 'string', value: 'FILE', text: 'Write a JUnit report' },
    ctrf: { type: 'string', value: 'FILE', text: 'Write a CTRF report (JSON)' },
    timings: {
      type: 'string',
      value: 'FILE',
      text: 'Write the durations of the flows that passed, for `troupe run --timings`',
    },
    'fail-on-flaky': FAIL_ON_FLAKY,
    'fail-on-repaired': FAIL_ON_REPAIRED,
  },
  exitCodes: [
    'every flow passed',
    'a flow did not pass, or a part is missing',
    'the folders are not parts of one run, or a report cannot be written',
  ],
} as const satisfies Command;

export const EVAL = {
  name: 'eval',
  usage: ["'SCRIPT' [options]", '- [options]'],
  summary: 'Run a script in a browser session, and print its value',
  notes: ['The value is printed as JSON. With -, the script comes from standard input.'],
  example: `troupe eval 'agent.go("https://example.com"); agent.text()'`,
  options: {
    session: {
      type: 'string',
      value: 'ID|last',
      text: 'Use this session, or the last of `troupe session create` and `troupe go` (default: a new one)',
    },
    url: {
      ...URL_OPTION,
      text: 'Use the service at URL (default: `TROUPE_URL`, else the one that runs, else its own)',
    },
    own: { type: 'boolean', text: 'Start a service for this script alone' },
  },
  exitCodes: ['done', 'the script failed', 'the script could not run: no service, or no such session'],
  home: 'folder',
} as const satisfies Command;

export const FLOW = {
  name: 'flow',
  usage: ['check|types'],
  summary: 'Check flows without running them, or print their types',
  options: {},
} as const satisfies Command;

export const FLOW_CHECK = {
  name: 'flow check',
  usage: ['[FILE|FOLDER|GLOB...] [options]'],
  summary: 'Report mistakes in flows without running them',
  notes: ['Without an argument, it checks all flows below flows/.'],
  example: 'troupe flow check flows/shop',
  options: {
    flows: { type: 'string', value: 'DIR', text: 'Use DIR as the flows folder, not the nearest folder named flows' },
    url: {
      type: 'string',
      value: 'PAGE',
      multiple: true,
      text: 'Also open PAGE, and list numbered locators that mean another element there than in the version before, which did not count what was covered',
    },
  },
  exitCodes: ['no mistakes', 'mistakes were found'],
  home: 'user',
} as const satisfies Command;

export const FLOW_TYPES = {
  name: 'flow types',
  usage: [''],
  summary: 'Print `agent-js.d.ts`, the types of flows, for editors and tsc',
  options: {},
} as const satisfies Command;

export const TYPES = {
  name: 'types',
  usage: ['[options]'],
  summary: 'Write `troupe.d.ts`, the types of flows, for editors and tsc',
  notes: ['Prints the `tsconfig.json` that goes with it. `troupe flow types` prints the types.'],
  options: {
    flows: { type: 'string', value: 'DIR', text: 'Write it to DIR (default: ./flows)' },
  },
} as const satisfies Command;
