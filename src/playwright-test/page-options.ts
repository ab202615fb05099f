import type { BrowserContext, Page } from '@playwright/test';
import { TroupeError } from '../client/index.js';
import type { Use } from './session-options.js';

/** What a test's options say about time: 0 is Playwright's own default. */
export interface Timeouts {
  readonly actionTimeout: number | undefined;
  readonly navigationTimeout: number | undefined;
}

/** Gives the session's context the options that Playwright applies while it runs. */
export async function pageOptions(context: BrowserContext, use: Use, timeouts: Timeouts): Promise<void> {
  const { actionTimeout = 0, navigationTimeout = 0 } = timeouts;
  if (actionTimeout > 0) context.setDefaultTimeout(actionTimeout);
  if (navigationTimeout > 0) context.setDefaultNavigationTimeout(navigationTimeout);
  if (use.baseURL !== undefined) setBaseUrl(context, use.baseURL);
  if (use.permissions !== undefined) await context.grantPermissions(use.permissions);
  if (use.geolocation !== undefined) await context.setGeolocation(use.geolocation);
  if (use.offline === true) await context.setOffline(true);
  const emulate = async (page: Page): Promise<void> => {
    const { colorScheme = null, reducedMotion = null, forcedColors = null, contrast = null } = use;
    await page.emulateMedia({ colorScheme, reducedMotion, forcedColors, contrast });
    if (use.viewport) await page.setViewportSize(use.viewport);
  };
  // A tab that is closed again at once needs no options.
  context.on('page', (page) => void emulate(page).catch(() => undefined));
  await Promise.all(context.pages().map(emulate));
}

/**
 * `baseURL` is an option of new contexts alone; Playwright has no public call that gives it to the context that a browser
 * brings along. It is read on both sides of Playwright's channel: by `expect(page).toHaveURL` and by `page.goto`.
 */
function setBaseUrl(context: BrowserContext, baseURL: string): void {
  const connection = member(context, '_connection');
  const toImpl = member(connection, 'toImpl');
  const server = typeof toImpl === 'function' ? Reflect.apply(toImpl, connection, [context]) : undefined;
  for (const side of [context, server]) {
    const options = member(side, '_options');
    if (!isObject(options) || !Reflect.set(options, 'baseURL', baseURL)) {
      throw new TroupeError(
        'INVALID_REQUEST',
        'baseURL cannot be given to a session with this version of Playwright: use whole addresses, or Playwright 1.65',
      );
    }
  }
}

function member(object: unknown, name: string): unknown {
  return isObject(object) ? Reflect.get(object, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
