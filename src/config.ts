import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { StoreSetting } from './artifact-store/artifact-store.js';
import { percentDecoded } from './base/percent-decoded.js';
import { errorCode, sentenceOf } from './base/system-fault.js';
import { ArtifactsKey, resolveArtifacts } from './config/artifact-settings.js';
import { readCiBuild } from './config/ci.js';
import type { ConnectionSettings } from './config/connection-settings.js';
import { dockerSocket, podmanSocket } from './config/docker-socket.js';
import { currentHome, sandboxIn } from './config/environment.js';
import { type ModelChoice, resolveModels } from './config/models.js';
import { RequestsKey, resolveRequests } from './config/request-settings.js';
import {
  clusterKeyIn,
  databaseIn,
  type NodeChoice,
  NodeKey,
  resolveNode,
  secretIn,
  withNodeOfEnvironment,
} from './config/store-settings.js';
import type { EgressLists } from './net-policy/egress.js';
import { HOST_PATTERN, isHostPattern } from './net-policy/host-pattern.js';
import { isTargetPattern } from './net-policy/target-pattern.js';
import type { CiBuild } from './protocol/batches/ci-build.js';
import { TroupeError } from './protocol/errors.js';
import { PRODUCT_NAME } from './protocol/product-name.js';
import { GivenStepScreenshots } from './protocol/session.js';
import { TraceWhen } from './protocol/trace/trace.js';

const environmentName = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'names an environment variable, such as TROUPE_TOKEN; never put the secret itself here');

const HostPatterns = z.array(z.string().refine(isHostPattern, `is ${HOST_PATTERN}`));

const WebhookTargets = z.array(
  z.string().refine(isTargetPattern, `is ${HOST_PATTERN}; a port may follow, as in :8080`),
);

/** What one container may use; megabytes. */
const Worker = z.strictObject({
  image: z.string().min(1).optional(),
  memory: z.int().min(256).max(1_048_576).default(2048),
  pids: z.int().min(100).max(100_000).default(512),
  cpus: z.number().min(0.1).max(1024).default(2),
  // A process inside writes no larger file, and a picture of the largest page is one: 7680 x 4320 points of four bytes.
  downloads: z.int().min(192).max(1_048_576).default(1024),
  scale: z.number().min(0.5).max(4).default(1),
});

/** Every key of `troupe.json`. Times are seconds. Unknown keys are refused by name. */
export const ConfigFile = z.strictObject({
  port: z.int().min(0).max(65_535).default(4444),
  host: z.string().min(1).default('127.0.0.1'),
  driver: z.enum(['auto', 'docker', 'process']).default('auto'),
  /** `auto`: uWebSockets.js where its binary can be loaded, else node:http. */
  server: z.enum(['auto', 'uws', 'node']).default('auto'),
  maxSessions: z.int().min(1).max(10_000).default(10),
  warmSessions: z.int().min(0).max(1000).default(2),
  maxQueue: z.int().min(0).max(10_000_000).default(100_000),
  idleTimeout: z.number().positive().max(86_400).default(300),
  hardTimeout: z.number().positive().max(86_400).default(1800),
  createTimeout: z.number().positive().max(600).default(30),
  actTimeout: z.number().positive().max(600).default(10),
  evalTimeout: z.number().positive().max(3600).default(60),
  /** Off where the system refuses what Chromium's sandbox is made of, as most containers do. Of the process driver. */
  chromiumSandbox: z.boolean().default(true),
  /** For WebDriver; by default where packages install it. */
  chromedriver: z.string().min(1).optional(),
  publicUrl: z.url().optional(),
  allowedHosts: z.array(z.string().min(1)).default([]),
  egress: z.strictObject({ allow: HostPatterns.optional(), deny: HostPatterns.optional() }).optional(),
  forward: z.array(z.int().min(1).max(65_535)).max(100).default([]),
  worker: Worker.prefault({}),
  maxIterations: z.int().min(0).max(1000).default(25),
  models: z.array(z.string()).default([]),
  providers: z
    .record(
      z.string().regex(/^[^/\s]+$/, 'is the part of a model before its first slash'),
      z.strictObject({ baseURL: z.url(), apiKeyEnv: environmentName.optional() }),
    )
    .default({}),
  video: z.enum(['off', 'on', 'on-failure']).default('off'),
  trace: TraceWhen.or(
    z.never({ error: 'is off, on, or on-failure; the address for OpenTelemetry is "traces"' }),
  ).default('off'),
  /** Where the dashboard opens traces: an origin of its own. */
  traceViewer: z
    .strictObject({ port: z.int().min(0).max(65_535).default(0), publicUrl: z.url().optional() })
    .prefault({}),
  screenshots: GivenStepScreenshots.optional(),
  retention: z
    .strictObject({
      days: z.number().positive().max(36_500).default(30),
      megabytes: z.int().min(1).max(1_000_000_000).default(20_480),
    })
    .prefault({}),
  token: environmentName.optional(),
  database: environmentName.optional(),
  clusterKey: environmentName.optional(),
  node: NodeKey.optional(),
  artifacts: ArtifactsKey.optional(),
  /** How long a node that leaves waits for its sessions. */
  drainTimeout: z.int().min(0).max(86_400).default(600),
  webhookSecret: environmentName.optional(),
  requests: RequestsKey.prefault({}),
  webhooks: z.strictObject({ allow: WebhookTargets.default([]) }).prefault({}),
  /** `link`: messages to webhooks about a handoff contain a link that gives control of the session. */
  handoff: z.strictObject({ link: z.boolean().default(false) }).prefault({}),
  log: z.enum(['text', 'json']).default('text'),
  traces: z.url().optional(),
});

/** What the command line may set; it wins over the file. */
export interface ConfigFlags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly driver?: string | undefined;
  readonly 'max-sessions'?: string | undefined;
  /** Ports, with commas between them. */
  readonly forward?: string | undefined;
}

/** The configuration of one service, frozen. Paths are absolute. */
export interface Config
  extends Readonly<
    Omit<
      z.infer<typeof ConfigFile>,
      | 'token'
      | 'database'
      | 'clusterKey'
      | 'node'
      | 'artifacts'
      | 'egress'
      | 'webhookSecret'
      | 'models'
      | 'providers'
      | 'requests'
    >
  > {
  /** The models that may be used, the default first; with their keys. */
  readonly models: readonly ModelChoice[];
  readonly home: string;
  readonly flowsDir: string;
  /** Collections of the request client that flows run. */
  readonly requestsDir: string;
  readonly sessionsDir: string;
  readonly tmpDir: string;
  /** The flows that batches brought with them. */
  readonly batchesDir: string;
  readonly journalFile: string;
  /** Holds the key to what the journal keeps closed. */
  readonly keyFile: string;
  /** `TROUPE_CHROMIUM`: the browser to use instead of the one that would be found. */
  readonly chromium: string | undefined;
  /** Who called sudo, as `SUDO_UID` and `SUDO_GID` tell: browsers of a service that runs as root run as this user. */
  readonly sudoUser: { readonly uid: number; readonly gid: number } | undefined;
  /** The Docker engine's unix socket, see `config/docker-socket.ts`; null where DOCKER_HOST names another machine. */
  readonly dockerSocket: string | null;
  /** That of Podman, which is used where DOCKER_HOST names it; null where there is none. */
  readonly podmanSocket: string | null;
  /** The folder for what is worth keeping between runs, as `XDG_CACHE_HOME` has it. */
  readonly cacheDir: string;
  /** Proxies and certificates of `Request.run`; contains secrets. */
  readonly requests: ConnectionSettings;
  /** Where traces go; null where they go nowhere. */
  readonly otlp: { readonly url: string; readonly headers: { readonly [name: string]: string } } | null;
  /** The value of the variable that `token` names. */
  readonly token: string | undefined;
  /** The URL in the variable that `database` names: the journal is in PostgreSQL then. Contains a password. */
  readonly database: string | undefined;
  /** The value of the variable that `clusterKey` names: it is used instead of the key file. */
  readonly clusterKey: string | undefined;
  /** The service shares its database with others; see `src/cluster`. */
  readonly node: NodeChoice | undefined;
  /** Where the artifacts of ended sessions are kept, if not in the home. Contains secrets. */
  readonly artifacts: StoreSetting | undefined;
  /** `closed` is no setting: the service adds it. */
  readonly egress?: (z.infer<typeof ConfigFile>['egress'] & Pick<EgressLists, 'closed'>) | undefined;
  /** The value of the variable that `webhookSecret` names: messages to webhooks are signed with it. */
  readonly webhookSecret: string | undefined;
}

/**
 * Reads `$TROUPE_HOME/troupe.json`, the flags and the environment, once. The only reader of the environment.
 * @throws INVALID_REQUEST naming the file or flag and the key that is wrong
 */
export function readConfig(flags: ConfigFlags, env: NodeJS.ProcessEnv = process.env): Config {
  const home = currentHome(env);
  const file = resolve(home, 'troupe.json');
  const settings = withNodeOfEnvironment({ ...parseFile(file), ...parseFlags(flags) }, env);
  const parsed = ConfigFile.safeParse(settings);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${describeIssue(issue)}`);
    throw new TroupeError(
      'INVALID_REQUEST',
      `The configuration (${file} and flags) is not valid:\n${lines.join('\n')}`,
    );
  }
  const { models, providers, requests, ...rest } = parsed.data;
  const token = secretIn(env, 'token', rest.token);
  // No client could send it.
  if (token !== undefined && /\s/.test(token)) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The variable ${rest.token}, which "token" names, must not contain spaces`,
    );
  }
  const webhookSecret = secretIn(env, 'webhookSecret', rest.webhookSecret);
  const database = databaseIn(env, rest.database);
  const clusterKey = clusterKeyIn(env, rest.clusterKey);
  if (!isLoopback(rest.host) && token === undefined) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The host ${rest.host} can be reached from other machines: set "token" in ${file} to the name of an environment ` +
        'variable that holds an access token, or listen on 127.0.0.1',
    );
  }
  if (rest.handoff.link && rest.publicUrl === undefined) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `handoff.link sends links to people, and needs the address that they reach this service at: set "publicUrl" in ${file}, ` +
        'or remove "handoff"',
    );
  }
  const { DOCKER_HOST, XDG_RUNTIME_DIR } = env;
  const place = { DOCKER_HOST, XDG_RUNTIME_DIR, HOME: homedir(), uid: process.getuid?.() };
  return Object.freeze({
    ...rest,
    models: resolveModels(models, providers, env),
    requests: resolveRequests(requests, home, env),
    ...homePaths(home),
    chromium: env.TROUPE_CHROMIUM || undefined,
    chromiumSandbox: sandboxIn(env) ?? rest.chromiumSandbox,
    dockerSocket: dockerSocket(place),
    podmanSocket: podmanSocket(place),
    cacheDir: cacheFolder(env),
    sudoUser: sudoUser(env),
    webhookSecret,
    database,
    clusterKey,
    node: resolveNode(rest.node, { home, database, clusterKey }),
    artifacts: resolveArtifacts(rest.artifacts, home, env),
    otlp: otlp(rest.traces, env),
    token,
  });
}

/** The same configuration for a service that a command starts for itself: in a folder and on a port of its own. */
export function configElsewhere(
  config: Config,
  { home, maxSessions }: { readonly home: string; readonly maxSessions: number },
): Config {
  const place = {
    host: '127.0.0.1',
    port: 0,
    publicUrl: undefined,
    handoff: { link: false },
    allowedHosts: [],
    token: undefined,
    database: undefined,
    clusterKey: undefined,
    node: undefined,
    artifacts: undefined,
    traceViewer: { port: 0 },
  };
  return Object.freeze({ ...config, ...place, ...homePaths(home), maxSessions, warmSessions: 0 });
}

/** The folder for what is worth keeping between runs (XDG_CACHE_HOME). */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.XDG_CACHE_HOME || join(homedir(), '.cache'), PRODUCT_NAME);
}

function homePaths(home: string) {
  return {
    home,
    flowsDir: resolve(home, 'flows'),
    requestsDir: resolve(home, 'requests'),
    sessionsDir: resolve(home, 'sessions'),
    tmpDir: resolve(home, 'tmp'),
    batchesDir: resolve(home, 'batches'),
    journalFile: resolve(home, 'troupe.db'),
    keyFile: resolve(home, 'troupe.key'),
  };
}

function sudoUser({ SUDO_UID = '', SUDO_GID = '' }: NodeJS.ProcessEnv): Config['sudoUser'] {
  return /^\d+$/.test(SUDO_UID) && /^\d+$/.test(SUDO_GID)
    ? { uid: Number(SUDO_UID), gid: Number(SUDO_GID) }
    : undefined;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The standard variables of OpenTelemetry's exporters; `traces` of the file wins over the endpoint. */
function otlp(traces: string | undefined, env: NodeJS.ProcessEnv): Config['otlp'] {
  const endpoint = traces ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (endpoint ? `${endpoint.replace(/\/+$/, '')}/v1/traces` : '');
  if (url === '') return null;
  const pairs = (env.OTEL_EXPORTER_OTLP_HEADERS ?? '').split(',').filter(Boolean);
  const headers = pairs.map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), percentDecoded(value.join('=').trim())];
  });
  return { url, headers: Object.fromEntries(headers) };
}

function parseFile(file: string): { [key: string]: unknown } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return {};
    const why =
      code === 'EISDIR'
        ? 'it is a folder; move it away'
        : code === 'ENOTDIR'
          ? 'its folder is a file; set TROUPE_HOME to a folder'
          : code === 'EACCES'
            ? 'this user may not read it; change its owner or mode'
            : sentenceOf(error);
    throw new TroupeError('INVALID_REQUEST', `${file} cannot be read: ${why}`, undefined, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    return z.record(z.string(), z.unknown()).parse(value);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it must be one JSON object';
    throw new TroupeError('INVALID_REQUEST', `${file} is not valid: ${why}`, undefined, { cause: error });
  }
}

function parseFlags(flags: ConfigFlags): { [key: string]: unknown } {
  const integer = (name: string, text: string): number => {
    if (!/^\d+$/.test(text)) throw new TroupeError('INVALID_REQUEST', `--${name} takes a whole number, not '${text}'`);
    return Number(text);
  };
  return {
    ...(flags.port === undefined ? {} : { port: integer('port', flags.port) }),
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.driver === undefined ? {} : { driver: flags.driver }),
    ...(flags.forward === undefined
      ? {}
      : { forward: flags.forward.split(',').map((port) => integer('forward', port)) }),
    ...(flags['max-sessions'] === undefined ? {} : { maxSessions: integer('max-sessions', flags['max-sessions']) }),
  };
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return `unknown key ${issue.keys.map((key) => `'${key}'`).join(', ')}`;
  return `${path}: ${issue.message}`;
}

/** The command that the user set as his browser (BROWSER), for pages that are opened outside of sessions. */
export function browserCommand(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env.BROWSER;
}

/** Where the window of the request client remembers what was sent: in the home where TROUPE_HOME names one, else the user's. */
export function requestHistoryFile(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(requestClientFolder(env), 'request-history.jsonl');
}

/** The settings of the request client, beside its history. */
export function requestSettingsFile(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(requestClientFolder(env), 'request-settings.json');
}

/** The recent files and sizes of the request client's window, beside its history. */
export function requestWindowFile(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(requestClientFolder(env), 'request-window.json');
}

/** The unsaved changes of the request client, beside its history. */
export function requestDraftsFolder(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(requestClientFolder(env), 'request-drafts');
}

function requestClientFolder(env: NodeJS.ProcessEnv): string {
  return env.TROUPE_HOME || join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), PRODUCT_NAME);
}

/** The value of a variable that a person named, as of a secret that a job is given. */
export function namedVariable(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env[name];
}

/** Whether lines for people may have colours; see https://no-color.org */
export function mayColour(env: NodeJS.ProcessEnv = process.env): boolean {
  return !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The CI build that a command runs in; null outside of CI. */
export function ciBuild(env: NodeJS.ProcessEnv = process.env): CiBuild | null {
  return readCiBuild(env);
}

/** What GitHub Actions gives a step: the checkout, and the file for the job's summary. Null outside of GitHub Actions. */
export function githubStep(
  env: NodeJS.ProcessEnv = process.env,
): { readonly workspace: string | undefined; readonly summaryFile: string | undefined } | null {
  if (env.GITHUB_ACTIONS !== 'true') return null;
  return { workspace: env.GITHUB_WORKSPACE || undefined, summaryFile: env.GITHUB_STEP_SUMMARY || undefined };
}
