import { z } from 'zod';
import { TroupeError } from '../protocol/errors.js';
import { LiveRequest } from '../protocol/session.js';
import { type Arguments, readArguments } from './browser-arguments.js';

const ProxySetting = z.looseObject({
  proxyType: z.string(),
  httpProxy: z.string().optional(),
  sslProxy: z.string().optional(),
  socksProxy: z.string().optional(),
  socksVersion: z.int().optional(),
  noProxy: z.array(z.string()).optional(),
});

const ChromeOptions = z.looseObject({
  args: z.array(z.string()).max(500).optional(),
  debuggerAddress: z.never({ error: 'the session brings its own browser; leave it out' }).optional(),
  binary: z.string().optional(),
  extensions: z.array(z.unknown()).max(0, 'browsers of sessions take no extensions; leave them out').optional(),
  perfLoggingPrefs: z.looseObject({}).optional(),
});

/** The capabilities that have a meaning here. Others have no effect and are listed in `troupe:ignored`. */
const Known = z.looseObject({
  browserName: z.string().optional(),
  browserVersion: z.string().optional(),
  platformName: z.string().optional(),
  acceptInsecureCerts: z.boolean().optional(),
  pageLoadStrategy: z.enum(['none', 'eager', 'normal']).optional(),
  proxy: ProxySetting.optional(),
  timeouts: z.looseObject({}).optional(),
  strictFileInteractability: z.boolean().optional(),
  unhandledPromptBehavior: z.union([z.string(), z.looseObject({})]).optional(),
  'goog:chromeOptions': ChromeOptions.optional(),
  'goog:loggingPrefs': z.record(z.string(), z.string()).optional(),
  'se:name': z.string().optional(),
  'se:recordVideo': z.union([z.boolean(), z.enum(['true', 'false'])]).optional(),
  'se:screenResolution': z
    .string()
    .regex(/^\d{3,4}x\d{3,4}(x\d+)?$/, 'is WIDTHxHEIGHT')
    .optional(),
  'se:timeZone': z.string().optional(),
  'troupe:options': LiveRequest.omit({ mode: true }).optional(),
});
type Known = z.infer<typeof Known>;

const Capabilities = z.looseObject({ capabilities: z.looseObject({}) });
const Sets = z.looseObject({
  alwaysMatch: z.record(z.string(), z.unknown()).default({}),
  firstMatch: z.array(z.record(z.string(), z.unknown())).min(1).max(100).default([{}]),
});

/** Passed to chromedriver as they are. */
const PASSED = [
  'pageLoadStrategy',
  'acceptInsecureCerts',
  'timeouts',
  'strictFileInteractability',
  'unhandledPromptBehavior',
  'goog:loggingPrefs',
] as const;

/** A request for a new session, as it is understood. */
export interface WantedSession {
  readonly request: LiveRequest;
  /** Capabilities for chromedriver, without the address of the browser. */
  readonly driver: { readonly [name: string]: unknown };
  readonly chromeOptions: { readonly [name: string]: unknown };
  /** Names of capabilities and arguments that have no effect here. */
  readonly ignored: readonly string[];
}

/**
 * Reads the body of New Session: merges `alwaysMatch` with the first of `firstMatch` that this service can provide.
 * @throws INVALID_REQUEST if the body is malformed; UNAVAILABLE if no browser here matches
 */
export function readCapabilities(body: unknown): WantedSession {
  const outer = Capabilities.safeParse(body);
  if (!outer.success) {
    throw new TroupeError('INVALID_REQUEST', '"capabilities" must be an object with "alwaysMatch" or "firstMatch"');
  }
  const sets = Sets.safeParse(outer.data.capabilities);
  if (!sets.success) throw invalid(sets.error);
  const { alwaysMatch, firstMatch } = sets.data;
  const merged = firstMatch.map((first) => {
    const twice = Object.keys(first).find((name) => Object.hasOwn(alwaysMatch, name));
    if (twice !== undefined) {
      throw new TroupeError('INVALID_REQUEST', `"${twice}" is in both "alwaysMatch" and "firstMatch"; give it once`);
    }
    const parsed = Known.safeParse(withoutNulls({ ...alwaysMatch, ...first }));
    if (!parsed.success) throw invalid(parsed.error);
    return parsed.data;
  });
  const found = merged.find((one) => mismatch(one) === null);
  if (found !== undefined) return wanted(found);
  const [why] = merged.map(mismatch);
  throw new TroupeError('UNAVAILABLE', `No browser of this service matches: ${why ?? ''}`);
}

function mismatch({ browserName, platformName, proxy }: Known): string | null {
  if (browserName !== undefined && !/^(chrome|chromium)?$/i.test(browserName)) {
    return `browserName is "${browserName}", and sessions run Chromium; use "chrome"`;
  }
  if (platformName !== undefined && !/^(linux|any|)$/i.test(platformName)) {
    return `platformName is "${platformName}", and browsers run on Linux; use "linux" or leave it out`;
  }
  if (proxy !== undefined && !['manual', 'direct', 'system'].includes(proxy.proxyType)) {
    return `proxyType is "${proxy.proxyType}"; use "manual" with httpProxy, sslProxy or socksProxy`;
  }
  return null;
}

function wanted(known: Known): WantedSession {
  const options = known['goog:chromeOptions'] ?? {};
  const args = readArguments(options.args ?? []);
  const named = new Set(Object.keys(Known.shape));
  const unused = Object.keys(known).filter((name) => !named.has(name));
  const unusedOptions = Object.keys(options).filter(
    (name) => !['args', 'perfLoggingPrefs', 'extensions', 'w3c'].includes(name),
  );
  const version = known.browserVersion === undefined ? [] : ['browserVersion'];
  return {
    request: requestOf(known, args),
    driver: Object.fromEntries(PASSED.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]]))),
    chromeOptions: options.perfLoggingPrefs === undefined ? {} : { perfLoggingPrefs: options.perfLoggingPrefs },
    ignored: [...unused, ...version, ...unusedOptions.map((name) => `goog:chromeOptions.${name}`), ...args.ignored],
  };
}

/** What `troupe:options` says wins over arguments of Chromium and capabilities of Selenium Grid. */
function requestOf(known: Known, args: Arguments): LiveRequest {
  const { 'se:name': name, 'se:recordVideo': video, 'se:screenResolution': screen, 'se:timeZone': timezone } = known;
  const [, width, height] = /^(\d+)x(\d+)/.exec(screen ?? '') ?? [];
  const { server, bypass } = proxyOf(known);
  const request = {
    ...(name === undefined || name === '' ? {} : { name: name.slice(0, 200) }),
    ...(video === undefined ? {} : { video: String(video) === 'true' ? 'on' : 'off' }),
    ...(width === undefined ? {} : { viewport: { width: Number(width), height: Number(height) } }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(known.acceptInsecureCerts === true ? { ignoreHTTPSErrors: true } : {}),
    ...(server === undefined ? {} : { proxy: { server, ...(bypass === undefined ? {} : { bypass }) } }),
    ...args.request,
    ...known['troupe:options'],
  };
  const checked = LiveRequest.safeParse(request);
  if (!checked.success) throw invalid(checked.error);
  return checked.data;
}

function proxyOf({ proxy }: Known): { readonly server?: string | undefined; readonly bypass?: string | undefined } {
  if (proxy?.proxyType !== 'manual') return {};
  const { httpProxy, sslProxy, socksProxy, socksVersion = 5, noProxy } = proxy;
  const server =
    sslProxy ?? httpProxy ?? (socksProxy === undefined ? undefined : `socks${socksVersion}://${socksProxy}`);
  return { server, bypass: noProxy?.join(',') };
}

/** A capability that is null counts as absent: section 7.2 of the recommendation. */
function withoutNulls(set: { readonly [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null));
}

function invalid(error: z.ZodError): TroupeError {
  const [issue] = error.issues;
  const where = issue === undefined ? 'capabilities' : issue.path.join('.') || 'capabilities';
  return new TroupeError('INVALID_REQUEST', `"${where}" is not valid: ${issue?.message ?? ''}`);
}
