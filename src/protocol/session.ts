import { z } from 'zod';
import { ControlKey } from './control.js';
import { ERROR_TABLE, type ErrorCode } from './errors.js';
import { StateName } from './login-state.js';
import { Handoff } from './person/handoff.js';
import { TraceWhen } from './trace/trace.js';

/** A session's id, which is also its job's: 12 characters of a-z and 0-9, safe in a path, a URL, and a label. */
export const SessionId = z
  .string()
  .regex(/^[a-z0-9]{12}$/)
  .brand<'SessionId'>();
export type SessionId = z.infer<typeof SessionId>;

export const SessionMode = z.enum(['live', 'auto']);
export type SessionMode = z.infer<typeof SessionMode>;

/**
 * `queued` -> `running` -> `completed` | `failed` | `stopped`. A live session ends `stopped`, or `failed` if it lost
 * its browser.
 */
export const SessionStatus = z.enum(['queued', 'running', 'completed', 'failed', 'stopped']);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const EndReason = z.enum(['deleted', 'idle', 'hard', 'lost', 'finished', 'interrupted', 'shutdown']);
export type EndReason = z.infer<typeof EndReason>;

const errorCodes = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];

export const ErrorBodySchema = z.object({
  error: z.string(),
  code: z.enum(errorCodes),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** A flow or task file in a request: relative to `flows/`, with forward slashes, `.js`, `.ts` or `.md`. */
export const FlowFile = z.string().min(1).max(500);

const seconds = z.number().positive().max(86_400);
const hostPattern = z.string().min(1).max(253);

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function isProxyServer(text: string): boolean {
  const [, host = '', port] =
    /^(?:(?:https?|socks[45]):\/\/)?(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  return host !== '' && (port === undefined || (Number(port) > 0 && Number(port) < 65_536));
}

/** Names and values that cannot break out of a header's line: RFC 9110, sections 5.1 and 5.5. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,200}$/, 'a header name has no blanks, colons, or line breaks');
const headerText = (longest: number) =>
  z
    .string()
    .max(longest)
    .regex(/^[\t\P{Cc}]*$/u, 'a header has no line breaks or control characters');

/**
 * Which steps have a picture: `on`, each that may have changed what is seen; `failures`, those that failed; `off`, none.
 * Pictures are half the page's size, those of failed steps as large as the page.
 */
export const StepScreenshots = z.enum(['on', 'failures', 'off']);
export type StepScreenshots = z.infer<typeof StepScreenshots>;

/** {@link StepScreenshots}, or a value of earlier versions: `exact` is `on`, `quick` is what applies without a value. */
export const GivenStepScreenshots = StepScreenshots.or(z.enum(['quick', 'exact']).meta({ deprecated: true }));
export type GivenStepScreenshots = z.infer<typeof GivenStepScreenshots>;

/** What whoever gave a value of earlier versions is told; null for others. */
export function warningOfScreenshots(given: GivenStepScreenshots | undefined): string | null {
  if (given === 'exact') return '"screenshots": "exact" is now "on": steps have pictures of half the page\'s size';
  if (given === 'quick') return '"screenshots": "quick" is now the default: leave it out, or write "on"';
  return null;
}

/** How messages to a job's webhook are written. */
export const WebhookFormat = z.enum(['standard', 'slack']);
export type WebhookFormat = z.infer<typeof WebhookFormat>;

/** What a person may be asked to allow a page, under Playwright's names. */
export const Permission = z.enum([
  ...([
    'accelerometer',
    'ambient-light-sensor',
    'background-sync',
    'camera',
    'clipboard-read',
    'clipboard-write',
  ] as const),
  ...(['geolocation', 'gyroscope', 'local-fonts', 'magnetometer', 'microphone', 'midi', 'midi-sysex'] as const),
  ...(['notifications', 'payment-handler', 'storage-access'] as const),
]);
export type Permission = z.infer<typeof Permission>;

const sessionFields = {
  name: z.string().min(1).max(200).optional(),
  labels: z.record(z.string().min(1).max(100), z.string().max(500)).optional(),
  viewport: z.strictObject({ width: z.int().min(200).max(7680), height: z.int().min(200).max(4320) }).optional(),
  locale: z.string().min(2).max(35).refine(isLocale, 'a BCP 47 language tag, such as de-DE').optional(),
  timezone: z.string().min(1).max(64).refine(isTimezone, 'an IANA time zone, such as Europe/Berlin').optional(),
  /** The name of a device as Playwright lists it, such as iPhone 15: viewport, scale, user agent, and touch. */
  device: z.string().min(1).max(100).optional(),
  /** Granted to all pages. */
  permissions: z.array(Permission).max(30).optional(),
  geolocation: z
    .strictObject({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
      /** In meters; 0 by default. */
      accuracy: z.number().min(0).max(1_000_000).optional(),
    })
    .optional(),
  colorScheme: z.enum(['light', 'dark', 'no-preference']).optional(),
  userAgent: headerText(1000).min(1).optional(),
  headers: z.record(headerName, headerText(8192)).optional(),
  ignoreHTTPSErrors: z.boolean().optional(),
  httpCredentials: z.strictObject({ username: z.string().max(500), password: z.string().max(500) }).optional(),
  storageState: z.looseObject({}).optional(),
  /** The name of a login state that `agent.saveState` saved. */
  state: StateName.optional(),
  proxy: z
    .strictObject({
      server: z.string().max(500).refine(isProxyServer, '[http|https|socks4|socks5://]host[:port], nothing more'),
      bypass: z.string().max(2000).optional(),
      username: z.string().max(500).optional(),
      password: z.string().max(500).optional(),
    })
    .optional(),
  idleTimeout: seconds.optional(),
  hardTimeout: seconds.optional(),
  video: z.enum(['off', 'on', 'on-failure']).optional(),
  trace: TraceWhen.optional(),
  screenshots: GivenStepScreenshots.optional(),
  /** What `network.har` has of requests: `headers` (the default), or also `bodies`. */
  har: z.enum(['headers', 'bodies']).optional(),
  egress: z
    .strictObject({ allow: z.array(hostPattern).max(200).optional(), deny: z.array(hostPattern).max(200).optional() })
    .optional(),
  forward: z.array(z.int().min(1).max(65_535)).max(20).optional(),
};

const taskFields = {
  prompt: z.string().max(100_000),
  flowFiles: z.array(FlowFile).max(100).optional(),
  args: z.record(z.string(), z.unknown()).optional(),
  /** Shorter values could not be distinguished from other text, so they could not be redacted. */
  secrets: z.record(z.string().regex(/^[\w.-]{1,100}$/), z.string().min(4).max(10_000)).optional(),
  model: z
    .string()
    .regex(/^[^/\s]+\/\S+$/, 'a model is <provider prefix>/<name>')
    .max(300)
    .optional(),
  maxIterations: z.int().min(0).max(1000).optional(),
  maxTokens: z.int().min(1).optional(),
  retries: z.int().min(0).max(10).optional(),
  /** Seconds that a call waits for its element, unless the call has a timeout of its own. */
  actTimeout: z.number().positive().max(600).optional(),
  /** `agent.expectScreenshot` and `agent.expectLook` store what they see instead of failing. */
  updateBaselines: z.boolean().optional(),
  /** When a flow has failed, the job waits for a person before it ends, with its page open. */
  pauseOnFailure: z.boolean().optional(),
  webhook: z.url().max(2000).optional(),
  /** `slack`: the end alone, as a message that Slack's incoming webhooks take. */
  webhookFormat: WebhookFormat.optional(),
};

/** `POST /api/sessions` with `{}`, no body, or `mode: "live"`. */
export const LiveRequest = z.strictObject({ mode: z.literal('live').optional(), ...sessionFields });
export type LiveRequest = z.infer<typeof LiveRequest>;

/** `POST /api/sessions` with `mode: "auto"`. */
export const AutoRequest = z.strictObject({ mode: z.literal('auto'), ...sessionFields, ...taskFields });
export type AutoRequest = z.infer<typeof AutoRequest>;

/** `POST /api/sessions/run`: like auto, and how long the call blocks (in seconds, 300 by default). */
export const RunRequest = z.strictObject({
  mode: z.literal('auto').optional(),
  ...sessionFields,
  ...taskFields,
  waitTimeout: z.number().min(0).max(86_400).optional(),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** `POST /api/jobs`: the older route for autonomous sessions. */
export const JobRequest = z.strictObject({ mode: z.literal('auto').optional(), ...sessionFields, ...taskFields });
export type JobRequest = z.infer<typeof JobRequest>;

/** `POST /sessions/{id}/proxy`. With `control`, the script is that of the person with control. */
export const ProxyRequest = z.strictObject({ js: z.string(), control: ControlKey.optional() });
export type ProxyRequest = z.infer<typeof ProxyRequest>;

/** `name=value`, or a name alone for any value. A name with `=` cannot be queried. */
export const LabelTerm = z.string().min(1).max(601);

/**
 * `GET /api/sessions?state=&mode=&label=&batch=&limit=&before=`. With several `label`, all must match; `before` is the
 * id
 * of the last record of the previous page.
 */
export const ListQuery = z.strictObject({
  state: SessionStatus.optional(),
  mode: SessionMode.optional(),
  label: z.union([LabelTerm, z.array(LabelTerm).max(20)]).optional(),
  batch: SessionId.optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  before: SessionId.optional(),
});
export type ListQuery = z.infer<typeof ListQuery>;

/** The records of a page if the query has no limit. */
export const LIST_LIMIT = 100;

/** For a DELETE: stop what is running, and remove its data at once. */
export const RemoveQuery = z.strictObject({ purge: z.enum(['true', 'false']).optional() });

/** `never`: only stop it; what has ended stays as it is. */
export const RemoveSessionQuery = z.strictObject({ purge: z.enum(['true', 'false', 'never']).optional() });

export const Tokens = z.object({ input: z.int(), cached: z.int(), output: z.int() });
export type Tokens = z.infer<typeof Tokens>;

/** What `completed` alone does not say: all tests of the job's flows were skipped; or a flow failed, and a model finished the run. */
export const TaskOutcome = z.enum(['skipped', 'repaired']);
export type TaskOutcome = z.infer<typeof TaskOutcome>;

/** A session or job as clients get it. Instants are ISO 8601 in UTC. */
export const SessionRecord = z.object({
  id: SessionId,
  sessionId: SessionId,
  mode: SessionMode,
  name: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  /** The batch of the job; null if it has none. */
  batch: z.string().nullable(),
  status: SessionStatus,
  state: SessionStatus,
  prompt: z.string().nullable(),
  flowFiles: z.array(z.string()),
  model: z.string().nullable(),
  maxIterations: z.int().nullable(),
  iterations: z.int(),
  /** 1, plus one for each retry. */
  attempt: z.int(),
  /** The `retries` of the request; absent: none. */
  retries: z.int().optional(),
  queuePosition: z.int().nullable(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  /** How long after its start it had no browser, in milliseconds: the pauses between attempts. Absent: it had none. */
  pausedMs: z.number().optional(),
  lastActivityAt: z.iso.datetime(),
  endReason: EndReason.nullable(),
  summary: z.string().nullable(),
  error: ErrorBodySchema.nullable(),
  outcome: TaskOutcome.optional(),
  tokens: Tokens,
  driver: z.string().nullable(),
  /** The name of the access token that it was started with; absent: it needed none. */
  startedBy: z.string().optional(),
  /** The node that runs or ran it; absent if there is only one. */
  node: z.string().optional(),
  /**
   * Where the artifacts are, if there is a store for them or several nodes: all in the store, not all in it yet, or only on
   * the node.
   */
  artifacts: z.enum(['stored', 'pending', 'node']).optional(),
  /** What a person is asked to do; absent: the session waits for no one. */
  handoff: Handoff.optional(),
  /** Whether the session has a trace; absent: it has none. */
  trace: TraceWhen.exclude(['off']).optional(),
  links: z.object({
    self: z.string(),
    proxy: z.string(),
    prompt: z.string(),
    download: z.string(),
    events: z.string(),
    view: z.string(),
  }),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** True for a final state. */
export function isEnded(status: SessionStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'stopped';
}
