import { z } from 'zod';
import type { BrowserPort } from '../agent-js/browser/browser-port.js';
import { TroupeError } from '../protocol/errors.js';

/** The most issues that an error lists. */
const MAX_ISSUES = 20;

const Entry = z.object({ name: z.string(), value: z.string() });
/** The format of Playwright's `storageState()`. */
const StorageState = z.object({
  cookies: z
    .array(
      z.looseObject({
        name: z.string(),
        value: z.string(),
        domain: z.string(),
        path: z.string(),
        expires: z.number().optional(),
      }),
    )
    .max(5000)
    .optional(),
  origins: z
    .array(z.object({ origin: z.url(), localStorage: z.array(Entry).max(5000) }))
    .max(100)
    .optional(),
});

/**
 * Restores cookies and each origin's local storage. Local storage can be written only from a page of its origin, so the
 * page navigates to each, while we answer every request ourselves: nothing reaches the network.
 *
 * @throws INVALID_REQUEST if `state` is not a storage state
 */
export async function restoreStorage(browser: BrowserPort, session: string, state: unknown): Promise<void> {
  const parsed = StorageState.safeParse(state);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
      path: ['storageState', ...path].map(String).join('.'),
      message,
    }));
    const [first] = issues;
    throw new TroupeError('INVALID_REQUEST', `"${first?.path}": ${first?.message}`, { issues });
  }
  const { cookies = [], origins = [] } = parsed.data;
  // -1 means a session cookie; CDP expects the member to be omitted.
  const given = cookies.map(({ expires, ...cookie }) =>
    expires === undefined || expires < 0 ? cookie : { ...cookie, expires },
  );
  if (given.length > 0) await browser.send('Storage.setCookies', { cookies: given });
  if (origins.length === 0) return;
  const stop = browser.listen((event) => {
    if (event.method !== 'Fetch.requestPaused' || event.session !== session) return;
    const responseHeaders = [{ name: 'content-type', value: 'text/html' }];
    const { requestId } = event.params;
    browser
      .send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body: '' }, { session })
      .catch(() => undefined);
  });
  try {
    await browser.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, { session });
    for (const { origin, localStorage } of origins) {
      await browser.send('Page.navigate', { url: origin }, { session });
      const entries = JSON.stringify(localStorage.map(({ name, value }) => [name, value]));
      const expression = `for (const [name, value] of ${entries}) localStorage.setItem(name, value)`;
      await browser.send('Runtime.evaluate', { expression }, { session });
    }
    await browser.send('Page.navigate', { url: 'about:blank' }, { session });
  } finally {
    stop();
    await browser.send('Fetch.disable', {}, { session }).catch(() => undefined);
  }
}
