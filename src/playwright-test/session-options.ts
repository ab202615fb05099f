import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, LaunchOptions } from '@playwright/test';
import { type LiveRequest, TroupeError } from '../client/index.js';

/** What a project's `use` says about its browser and pages. */
export interface Use extends BrowserContextOptions {
  readonly browserName: string;
  readonly channel: string | undefined;
  readonly launchOptions: LaunchOptions;
}

/** A session has these unless it is asked for others; not asking lets it have a browser that is ready. */
const DEFAULT_LOCALE = 'en-US';
const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/** Options that act when a browser of one's own is started. These change nothing here. */
const HARMLESS_LAUNCH_OPTIONS = ['headless', 'timeout', 'slowMo', 'tracesDir', 'downloadsPath', 'artifactsDir'];

/**
 * The session for a test's options. Options of the page that a session does not have are applied by {@link pageOptions}.
 * @throws INVALID_REQUEST for options that a browser that runs elsewhere cannot have, with their names
 */
export function sessionOptions(use: Use): Omit<LiveRequest, 'mode' | 'name' | 'labels'> {
  refuse(use);
  const { viewport, locale, timezoneId, userAgent, extraHTTPHeaders, httpCredentials, ignoreHTTPSErrors, proxy } = use;
  const isPlain = viewport?.width === DEFAULT_VIEWPORT.width && viewport.height === DEFAULT_VIEWPORT.height;
  return {
    ...(viewport === null || viewport === undefined || isPlain ? {} : { viewport }),
    ...(locale === undefined || locale === DEFAULT_LOCALE ? {} : { locale }),
    ...(timezoneId === undefined ? {} : { timezone: timezoneId }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(extraHTTPHeaders === undefined ? {} : { headers: extraHTTPHeaders }),
    ...(isOnePair(httpCredentials) ? { httpCredentials: pick(httpCredentials) } : {}),
    ...(ignoreHTTPSErrors === true ? { ignoreHTTPSErrors } : {}),
    ...(use.storageState === undefined ? {} : { storageState: readState(use.storageState) }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

type Credentials = BrowserContextOptions['httpCredentials'];

/** A session sends the same name and password wherever it is asked for one. */
function isOnePair(given: Credentials): given is { readonly username: string; readonly password: string } {
  return given !== undefined && !Array.isArray(given) && given.origin === undefined && given.send === undefined;
}

function pick({ username, password }: { readonly username: string; readonly password: string }) {
  return { username, password };
}

function refuse(use: Use): void {
  const { browserName, channel, launchOptions } = use;
  if (browserName !== 'chromium') {
    throw refused(`browserName: ${browserName}`, 'sessions run Chromium; run this project with @playwright/test');
  }
  if (channel !== undefined && channel !== 'chromium') {
    throw refused(`channel: ${channel}`, 'sessions run the Chromium of the service; remove the channel');
  }
  const launch = Object.keys(launchOptions).filter((name) => !HARMLESS_LAUNCH_OPTIONS.includes(name));
  if (launch.length > 0) {
    throw refused(`launchOptions: ${launch.join(', ')}`, 'the service starts the browser; remove them');
  }
  const given = UNAVAILABLE.filter(({ isGiven }) => isGiven(use)).map(({ option }) => option);
  if (given.length === 0) return;
  throw refused(given.join(', '), 'only a new context can have them: use browser.newContext({...}) in the test');
}

/** What only a context can have that Playwright makes itself. */
const UNAVAILABLE: readonly { readonly option: string; readonly isGiven: (use: Use) => boolean }[] = [
  { option: 'isMobile', isGiven: ({ isMobile }) => isMobile === true },
  { option: 'hasTouch', isGiven: ({ hasTouch }) => hasTouch === true },
  { option: 'deviceScaleFactor', isGiven: ({ deviceScaleFactor: scale }) => scale !== undefined && scale !== 1 },
  { option: 'javaScriptEnabled', isGiven: ({ javaScriptEnabled }) => javaScriptEnabled === false },
  { option: 'bypassCSP', isGiven: ({ bypassCSP }) => bypassCSP === true },
  { option: 'acceptDownloads', isGiven: ({ acceptDownloads }) => acceptDownloads === false },
  { option: 'serviceWorkers', isGiven: ({ serviceWorkers }) => serviceWorkers === 'block' },
  { option: 'clientCertificates', isGiven: ({ clientCertificates = [] }) => clientCertificates.length > 0 },
  { option: 'httpCredentials', isGiven: ({ httpCredentials: one }) => one !== undefined && !isOnePair(one) },
  { option: 'strictSelectors', isGiven: ({ strictSelectors }) => strictSelectors === true },
  { option: 'recordHar', isGiven: ({ recordHar }) => recordHar !== undefined },
  { option: 'recordVideo', isGiven: ({ recordVideo }) => recordVideo !== undefined },
];

function refused(what: string, why: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', `troupe/playwright does not offer ${what}: ${why}`);
}

function readState(state: NonNullable<BrowserContextOptions['storageState']>): { readonly [name: string]: unknown } {
  if (typeof state !== 'string') return { ...state };
  try {
    return Object(JSON.parse(readFileSync(state, 'utf8')));
  } catch (cause) {
    throw new TroupeError('INVALID_REQUEST', `The storage state ${state} cannot be read`, undefined, { cause });
  }
}
