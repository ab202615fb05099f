import { type Browser, test as base } from '@playwright/test';
import { plainText } from '../base/plain-text.js';
import { type Session, TroupeError } from '../client/index.js';
import { runOfWorker } from './command-run.js';
import { fetchDownloads } from './downloads.js';
import { type Entry, Farm, purposeOf, runRequest, type TroupeOptions, workerPurpose } from './farm.js';
import { pageOptions } from './page-options.js';
import { attemptOfInfo, runningAttempt, SESSION_ANNOTATION, testOfInfo } from './reported-test.js';
import { sessionOptions, type Use } from './session-options.js';
import { SuiteRun } from './suite-run.js';
import { usedService } from './used-service.js';
import { attachVideos, isKept, isRecorded } from './video.js';

/** How long a test waits for a free browser, in milliseconds; its own timeout does not run meanwhile. */
const WAIT_MS = 180_000;
/** How long the reports about a test, and those of a worker that ends, may take, in milliseconds. */
const REPORT_MS = 60_000;

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
  /** What the run says about the test. */
  readonly _entry: Entry;
}

interface PrivateOfWorker {
  readonly _farm: Farm;
  /** The run of the suite; null if this process belongs to none. */
  readonly _run: SuiteRun | null;
}

/**
 * `test` of Playwright Test whose `page` and `context` are those of a session of its own for each test, and whose
 * `browser` is that of a session of the worker.
 */
export const test = base.extend<TroupeTestArgs & Private, TroupeWorkerArgs & PrivateOfWorker>({
  troupe: [{}, { scope: 'worker', option: true }],
  _farm: [async ({ troupe }, use) => use(new Farm(troupe)), { scope: 'worker' }],

  _run: [
    async ({ troupe }, use, info) => {
      const command = runOfWorker();
      const run =
        command === null ? null : new SuiteRun(usedService(troupe), runRequest(command.run, troupe, info.config));
      await use(run);
      const missing = (await run?.close({ end: false })) ?? null;
      if (missing !== null && command?.hasReporter === false) process.stderr.write(`${plainText(missing)}\n`);
    },
    { scope: 'worker', timeout: REPORT_MS, box: true },
  ],

  _entry: [
    async ({ _farm, _run }, use, info) => {
      const startedAtMs = Date.now();
      const entry: Entry = { startedAtMs, sessionId: null };
      _farm.entry = entry;
      _run?.report({ ...testOfInfo(info), attempts: [runningAttempt(info, startedAtMs)] });
      void _run?.flush();
      await use(entry);
      _farm.entry = null;
      // The session was ended before: this fixture was set up earlier.
      _run?.report({ ...testOfInfo(info), attempts: [attemptOfInfo(info, startedAtMs, entry.sessionId)] });
      await _run?.flush();
    },
    { auto: true, timeout: REPORT_MS, box: true },
  ],

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
    async ({ _farm, _run, _entry, _use, video }, use, info) => {
      const wanted = isRecorded(video, info);
      const request = { ...sessionOptions(_use), ...(wanted ? { video: 'on' as const } : {}) };
      const session = await _farm.create(purposeOf(info, (await _run?.id()) ?? null), request);
      _entry.sessionId = session.id;
      const attempt = { ...runningAttempt(info, _entry.startedAtMs), sessionId: session.id };
      _run?.report({ ...testOfInfo(info), attempts: [attempt] });
      void _run?.flush();
      info.annotations.push({ type: SESSION_ANNOTATION, description: await _farm.viewOf(session) });
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
    async ({ _farm, _run, playwright, browserName, channel, launchOptions }, use, info) => {
      const purpose = workerPurpose(info, (await _run?.id()) ?? null);
      const session = await _farm.create(purpose, sessionOptions({ browserName, channel, launchOptions }));
      try {
        const browser: Browser = await _farm.connect(playwright.chromium, session);
        noteUses(browser, _farm, session);
        await use(browser);
        await browser.close();
      } finally {
        await session.stop();
      }
    },
    { scope: 'worker', timeout: WAIT_MS },
  ],
});

/** A test that makes contexts in the worker's browser, and has no session of its own, ran in the worker's. */
function noteUses(browser: Browser, farm: Farm, session: Session): void {
  const newContext = browser.newContext.bind(browser);
  Object.assign(browser, {
    newContext: (...options: Parameters<Browser['newContext']>) => {
      if (farm.entry !== null) farm.entry.sessionId ??= session.id;
      return newContext(...options);
    },
  });
}
