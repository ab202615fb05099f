import { namedVariable } from '../../config.js';
import { StateName } from '../../protocol/login-state.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { StepScreenshots, WebhookFormat } from '../../protocol/session.js';
import { TraceWhen } from '../../protocol/trace/trace.js';
import { RUN } from '../../terminal/commands/run-commands.js';
import { UsageError } from '../../terminal/failure.js';
import { printError } from '../../terminal/output.js';
import { parseWords } from '../../terminal/parse-options.js';

/** What a run is called that was given no `--name`. */
export const DEFAULT_RUN_NAME = `${PRODUCT_NAME} run`;

/** What `troupe run` was asked for. */
export interface RunOptions {
  readonly words: readonly string[];
  readonly prompt: string | undefined;
  readonly model: string | undefined;
  readonly url: string | undefined;
  readonly own: boolean;
  readonly flows: string | undefined;
  readonly report: string | undefined;
  readonly junit: string | undefined;
  readonly ctrf: string | undefined;
  /** The folder for an index.html over all flows. */
  readonly html: string | undefined;
  /** Only print which flows would run. */
  readonly list: boolean;
  /** Only flows that failed in the last run of this flows folder. */
  readonly lastFailed: boolean;
  /** Null: as many as the service has places for. */
  readonly parallel: number | null;
  /** The `index`-th of `count` parts, from 1. */
  readonly shard: { readonly index: number; readonly count: number } | null;
  /** A file with the durations of flows, by which `shard` divides, and `join` orders. */
  readonly timings: string | undefined;
  /** The build whose machines share the flows of this run; the service that they claim them from is at `url`. */
  readonly join: string | undefined;
  /** Which steps have a picture; undefined: as the service is configured. */
  readonly screenshots: StepScreenshots | undefined;
  /** network.har has what requests sent and got. */
  readonly harBodies: boolean;
  /** Which jobs have a trace; undefined: as the service is configured. */
  readonly trace: TraceWhen | undefined;
  /** Which jobs have a video; undefined: as the service is configured. */
  readonly video: 'on' | 'off' | 'on-failure' | undefined;
  /** Only what differs from this commit of git. */
  readonly changed: string | undefined;
  /** The pages of the flows are opened in the dashboard. */
  readonly headed: boolean;
  /** A failed flow waits for a person, with its page open. */
  readonly pause: boolean;
  /** The flows run again whenever their files change. */
  readonly watch: boolean;
  /** Baselines are stored in the flows folder instead of compared with. */
  readonly updateBaselines: boolean;
  readonly retries: number;
  /** `immediate`: the service retries a job as soon as it failed; `isolated`: at the end of the run, one at a time. */
  readonly retryStrategy: 'immediate' | 'isolated';
  /** A CSV or JSON file: each flow runs once for each of its rows. */
  readonly data: string | undefined;
  /** The saved login state that flows start with. */
  readonly state: string | undefined;
  /** How often each flow runs. */
  readonly repeatEach: number;
  /** The run is stopped after so many failures; null: it goes on to its end. */
  readonly maxFailures: number | null;
  /** A flow that passed only in a retry fails the run. */
  readonly failOnFlaky: boolean;
  readonly failOnRepaired: boolean;
  readonly grep: RegExp | null;
  /** Seconds of one job. */
  readonly timeout: number | undefined;
  /** Seconds of the whole run; what has not ended then is stopped. */
  readonly runTimeout: number | undefined;
  /** Seconds that one call of a flow waits for its element. */
  readonly actTimeout: number | undefined;
  /** Gets one message when all jobs have ended. */
  readonly webhook: string | undefined;
  readonly webhookFormat: WebhookFormat | undefined;
  readonly name: string | undefined;
  readonly labels: { readonly [name: string]: string };
  readonly args: { readonly [name: string]: unknown };
  /** The arguments as they were typed. */
  readonly typedArgs: readonly string[];
  readonly secretNames: readonly string[];
  readonly secrets: { readonly [name: string]: string };
  /** Ports of the service's machine that every job's pages reach as localhost. */
  readonly forward: readonly number[];
  /** `serve` of troupe-run.json is started although something is at its address; any answer there counts. */
  readonly serveAnyway: boolean;
  /** For a service of the run's own. */
  readonly driver: string | undefined;
}

type Given = ReturnType<typeof parseWords<typeof RUN.options>>['values'];

/** @throws UsageError that names the word which is wrong */
export function readRunOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parseWords(args, RUN);
  if (positionals.length === 0 && values.prompt === undefined) {
    throw new UsageError('Missing argument: FILE, FOLDER or GLOB of flows, or --prompt TEXT');
  }
  if (values.own === true && values.url !== undefined) {
    throw new UsageError('--own starts a service for this run alone, --url names another: one of them');
  }
  const retries = values.retries === undefined ? 0 : whole('--retries', values.retries, 0, 10);
  const retryStrategy = strategyOf(values['retry-strategy']);
  if (retryStrategy === 'isolated' && retries === 0) {
    throw new UsageError('--retry-strategy says how failed flows are retried: add --retries N');
  }
  if (values.webhook !== undefined && retryStrategy === 'isolated') {
    throw new UsageError('--webhook reports before isolated retries begin: use --retry-strategy immediate with it');
  }
  if (values.watch === true && (values.list === true || values.shard !== undefined)) {
    throw new UsageError('--watch runs flows again when they change: leave out --list and --shard');
  }
  if (values['fail-fast'] === true && values['max-failures'] !== undefined) {
    throw new UsageError('--fail-fast is --max-failures 1: give only one of them');
  }
  if (values.timings !== undefined && values.shard === undefined && values.join === undefined) {
    throw new UsageError('--timings says how a run is divided: add --shard I/N, or --join BUILD');
  }
  if (values.join !== undefined) assertJoins(values.join, retryStrategy, values);
  return {
    words: positionals,
    prompt: values.prompt,
    model: values.model,
    url: values.url,
    own: values.own ?? false,
    flows: values.flows,
    report: values.report,
    junit: values.junit,
    ctrf: values.ctrf,
    html: values.html,
    list: values.list ?? false,
    lastFailed: values['last-failed'] ?? false,
    parallel: values.parallel === undefined ? null : whole('--parallel', values.parallel, 1, 10_000),
    shard: values.shard === undefined ? null : shardOf(values.shard),
    timings: values.timings,
    join: values.join,
    harBodies: values['har-bodies'] ?? false,
    screenshots: screenshotsOf(values),
    trace: values.trace === undefined ? undefined : traceOf(values.trace),
    video: values.video === undefined ? undefined : videoOf(values.video),
    changed: values.changed,
    headed: values.headed ?? false,
    pause: values.pause ?? false,
    watch: values.watch ?? false,
    updateBaselines: values['update-baselines'] ?? false,
    data: values.data,
    state: values.state === undefined ? undefined : stateOf(values.state),
    retries,
    retryStrategy,
    repeatEach: values['repeat-each'] === undefined ? 1 : whole('--repeat-each', values['repeat-each'], 1, 1000),
    maxFailures: maxFailuresOf(values['fail-fast'], values['max-failures']),
    failOnFlaky: values['fail-on-flaky'] ?? false,
    failOnRepaired: values['fail-on-repaired'] ?? false,
    grep: values.grep === undefined ? null : expression(values.grep),
    timeout: values.timeout === undefined ? undefined : whole('--timeout', values.timeout, 1, 86_400),
    runTimeout:
      values['run-timeout'] === undefined ? undefined : whole('--run-timeout', values['run-timeout'], 1, 86_400),
    actTimeout:
      values['act-timeout'] === undefined ? undefined : secondsOf('--act-timeout', values['act-timeout'], 600),
    webhook: values.webhook === undefined ? undefined : webhookOf(values.webhook),
    webhookFormat: formatOf(values.webhook, values['webhook-format']),
    name: values.name,
    labels: Object.fromEntries((values.label ?? []).map((text) => pair('--label', text))),
    typedArgs: values.args ?? [],
    secretNames: values.secret ?? [],
    args: Object.fromEntries((values.args ?? []).map(argument)),
    secrets: Object.fromEntries((values.secret ?? []).map(secret)),
    forward: values.forward === undefined ? [] : values.forward.split(',').map(port),
    serveAnyway: values['serve-anyway'] ?? false,
    driver: values.driver,
  };
}

function whole(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not '${text}'`);
}

/** What each machine would decide by itself, or the service at --url for all, does not go with `--join`. */
function assertJoins(build: string, retryStrategy: RunOptions['retryStrategy'], values: Given): void {
  if (build.length === 0 || build.length > 200) {
    throw new UsageError('--join takes the name of a build, 200 characters at most');
  }
  if (retryStrategy === 'isolated') throw new UsageError('--join retries at once: leave out --retry-strategy isolated');
  const others = [
    ...(['shard', 'last-failed', 'max-failures', 'fail-fast', 'webhook', 'update-baselines', 'own'] as const),
    ...(['headed', 'pause', 'watch'] as const),
  ];
  const other = others.find((name) => values[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--join and --${other} do not go together`);
}

function strategyOf(text: string | undefined): RunOptions['retryStrategy'] {
  if (text === undefined || text === 'immediate') return 'immediate';
  if (text === 'isolated') return text;
  throw new UsageError(`--retry-strategy takes immediate or isolated, not '${text}'`);
}

function webhookOf(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--webhook takes an http or https URL');
}

function formatOf(webhook: string | undefined, text: string | undefined): WebhookFormat | undefined {
  if (text === undefined) return webhook?.startsWith('https://hooks.slack.com/') ? 'slack' : undefined;
  if (webhook === undefined) throw new UsageError('--webhook-format says what a webhook gets: add --webhook URL');
  const format = WebhookFormat.safeParse(text);
  if (format.success) return format.data;
  throw new UsageError(`--webhook-format takes ${WebhookFormat.options.join(' or ')}, not '${text}'`);
}

function traceOf(text: string): TraceWhen {
  const when = TraceWhen.safeParse(text);
  if (when.success) return when.data;
  throw new UsageError(`--trace takes ${TraceWhen.options.join(', ')}, not '${text}'`);
}

function videoOf(text: string): NonNullable<RunOptions['video']> {
  if (text === 'on' || text === 'off' || text === 'on-failure') return text;
  throw new UsageError(`--video takes on, off, or on-failure, not '${text}'`);
}

/** `--exact-screenshots` and the values `exact` and `quick` are of earlier versions. */
function screenshotsOf(values: Given): StepScreenshots | undefined {
  const text = values.screenshots ?? (values['exact-screenshots'] ? 'exact' : undefined);
  if (text === undefined) return undefined;
  if (text === 'exact' || text === 'quick') {
    printError(
      `warning: ${values.screenshots === undefined ? '--exact-screenshots' : `--screenshots ${text}`} is now --screenshots on\n`,
    );
    return 'on';
  }
  const given = StepScreenshots.safeParse(text);
  if (given.success) return given.data;
  throw new UsageError(`--screenshots takes ${StepScreenshots.options.join(', ')}, not '${text}'`);
}

function stateOf(text: string): string {
  const name = StateName.safeParse(text);
  if (name.success) return name.data;
  throw new UsageError(`--state takes the name of a saved login state, not '${text}'`);
}

function maxFailuresOf(failFast: boolean | undefined, text: string | undefined): number | null {
  if (failFast === true) return 1;
  return text === undefined ? null : whole('--max-failures', text, 1, 10_000);
}

function secondsOf(option: string, text: string, most: number): number {
  const value = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && value <= most) return value;
  throw new UsageError(`${option} takes seconds, more than 0 and at most ${most}, not '${text}'`);
}

function port(text: string): number {
  return whole('--forward', text.trim(), 1, 65_535);
}

function shardOf(text: string): NonNullable<RunOptions['shard']> {
  const [, index = '', count = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (Number(index) >= 1 && Number(index) <= Number(count)) return { index: Number(index), count: Number(count) };
  throw new UsageError(`--shard takes a part and their number, such as 2/5, not '${text}'`);
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(`--grep takes a regular expression: ${error instanceof Error ? error.message : text}`);
  }
}

/** `key=value` is a text, `key:=value` any JSON. */
function argument(text: string): readonly [string, unknown] {
  const [, name, json] = /^([^=:]+):=(.*)$/s.exec(text) ?? [];
  if (name === undefined || json === undefined) return pair('--args', text);
  try {
    return [name, JSON.parse(json)];
  } catch {
    throw new UsageError(`--args ${name}:= takes JSON, not '${json}'`);
  }
}

function pair(option: string, text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${option} takes name=value, not '${text}'`);
}

function secret(name: string): readonly [string, string] {
  const value = namedVariable(name);
  if (value !== undefined && value !== '') return [name, value];
  throw new UsageError(`--secret ${name}: the environment has no variable of that name`);
}
