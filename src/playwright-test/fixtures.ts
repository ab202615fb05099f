import { type Browser, test as base } from '@playwright/test';
import { type Session, TroupeError } from '../client/index.js';
import { fetchDownloads } from './downloads.js';
import { Farm, purposeOf, type TroupeOptions, workerPurpose } from './farm.js';
import { pageOptions } from './page-options.js';
import { sessionOptions, type Use } from './session-options.js';
import { attachVideos, isKept, isRecorded } from './video.js';

/** How long a test waits for a free browser, in milliseconds; its own timeout does not run meanwhile. */
const WAIT_MS = 180_000;

/** What tests get beside Playwright's own. */
export interface TroupeTestArgs {
  /** The session in whose browser the test runs: `session.run('agent.look()')`, `session.files`, `session.id`. */
  readonly session: Session;
}

/** What a project's `use` takes beside Playwright's own. */
export interface TroupeWorkerArgs {
  readonly troupe: TroupeOptions;
}

interface Private {
  /** What the project's `use` says about the browser. */
  readonly _use: Use;
}

interface PrivateOfWorker {
  readonly _farm: Farm;
}

/**
 * `test` of Playwright Test whose `page` and `context` are those of a session of its own for each test, and whose
 * `browser` is that of a session of the worker.
 */
export const test = base.extend<TroupeTestArgs & Private, TroupeWorkerArgs & PrivateOfWorker>({
  troupe: [{}, { scope: 'worker', option: true }],
  _farm: [async ({ troupe }, use) => use(new Farm(troupe)), { scope: 'worker' }],

  _use: async (
    {
      acceptDownloads,
      baseURL,
      browserName,
      bypassCSP,
      channel,
      clientCertificates,
      colorScheme,
      contextOptions,
      deviceScaleFactor,
      extraHTTPHeaders,
      geolocation,
      hasTouch,
      httpCredentials,
      ignoreHTTPSErrors,
      isMobile,
      javaScriptEnabled,
      launchOptions,
      locale,
      offline,
      permissions,
      proxy,
      serviceWorkers,
      storageState,
      timezoneId,
      userAgent,
      viewport,
    },
    use,
  ) => {
    const options = {
      acceptDownloads,
      baseURL,
      bypassCSP,
      clientCertificates,
      colorScheme,
      deviceScaleFactor,
      extraHTTPHeaders,
      geolocation,
      hasTouch,
      httpCredentials,
      ignoreHTTPSErrors,
      isMobile,
      javaScriptEnabled,
      locale,
      offline,
      permissions,
      proxy,
      serviceWorkers,
      storageState,
      timezoneId,
      userAgent,
      viewport,
    };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    await use({ ...contextOptions, ...given, browserName, channel, launchOptions });
  },

  session: [
    async ({ _farm, _use, video }, use, info) => {
      const wanted = isRecorded(video, info);
      const request = { ...sessionOptions(_use), ...(wanted ? { video: 'on' as const } : {}) };
      const session = await _farm.create(purposeOf(info), request);
      info.annotations.push({ type: 'troupe session', description: await _farm.viewOf(session) });
      let end: string | null = null;
      try {
        await use(session);
      } finally {
        end = await _farm.endOf(session);
        // A DELETE would remove one that has ended by itself, with its artifacts.
        if (end === null) await session.stop();
        if (wanted && isKept(video, info) && (await attachVideos(session, info)) === 0) {
          const why = `the service has none of session ${session.id}; its transcript may say why`;
          info.annotations.push({ type: 'no video', description: why });
        }
      }
      if (end !== null) throw new TroupeError('SESSION_ENDED', end);
    },
    { timeout: WAIT_MS },
  ],

  context: async ({ _farm, _use, session, playwright, actionTimeout, navigationTimeout }, use, info) => {
    const browser = await _farm.connect(playwright.chromium, session);
    const [context] = browser.contexts();
    if (context === undefined) throw new TroupeError('WORKER_LOST', `The browser of ${session.id} has no context`);
    await pageOptions(context, _use, { actionTimeout, navigationTimeout });
    fetchDownloads(context, session, info);
    await use(context);
    // The trace and the screenshots of the test are taken while its context closes, and with it the connection.
    await context.close();
  },

  page: async ({ context }, use) => {
    const [page] = context.pages();
    await use(page ?? (await context.newPage()));
  },

  browser: [
    async ({ _farm, playwright, browserName, channel, launchOptions }, use, info) => {
      const session = await _farm.create(workerPurpose(info), sessionOptions({ browserName, channel, launchOptions }));
      try {
        const browser: Browser = await _farm.connect(playwright.chromium, session);
        await use(browser);
        await browser.close();
      } finally {
        await session.stop();
      }
    },
    { scope: 'worker', timeout: WAIT_MS },
  ],
});
