import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { StorageState } from '../../protocol/login-state.js';
import type { AttachedPage, BrowserPort } from '../browser/browser-port.js';

const READ_MS = stretched(5_000);

/**
 * The cookies of the whole browser, and the local storage of the sites that are open in a tab.
 * @throws ACTION_FAILED if a page does not answer
 */
export async function collectState(browser: BrowserPort): Promise<StorageState> {
  const { cookies } = await browser.send('Storage.getCookies', {}, { timeoutMs: READ_MS });
  const origins: { origin: string; localStorage: { name: string; value: string }[] }[] = [];
  for (const [origin, session] of await openOrigins(browser)) {
    const localStorage = await localStorageOf(browser, session, origin);
    if (localStorage.length > 0) origins.push({ origin, localStorage });
  }
  const kept = cookies.map(({ name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey }) => ({
    name,
    value,
    domain,
    path,
    expires,
    httpOnly,
    secure,
    ...(sameSite === undefined ? {} : { sameSite }),
    ...(partitionKey === undefined ? {} : { partitionKey }),
  }));
  return { cookies: kept, origins };
}

/** The origins of the open tabs, each with the DevTools session of one of its tabs. */
async function openOrigins(browser: BrowserPort): Promise<ReadonlyMap<string, string>> {
  const pages: AttachedPage[] = [];
  browser.onPage((page) => pages.push(page))();
  // A page has moved on since it was attached.
  const { targetInfos } = await browser.send('Target.getTargets', {}, { timeoutMs: READ_MS });
  const urls = new Map(targetInfos.map(({ targetId, url }) => [targetId, url]));
  const origins = new Map<string, string>();
  for (const { targetId, session } of pages) {
    const url = urls.get(targetId) ?? '';
    if (/^https?:/.test(url) && URL.canParse(url)) origins.set(new URL(url).origin, session);
  }
  return origins;
}

async function localStorageOf(browser: BrowserPort, session: string, origin: string) {
  const storageId = { securityOrigin: origin, isLocalStorage: true };
  try {
    const { entries } = await browser.send(
      'DOMStorage.getDOMStorageItems',
      { storageId },
      { session, timeoutMs: READ_MS },
    );
    return entries.flatMap(([name, value]) => (name === undefined || value === undefined ? [] : [{ name, value }]));
  } catch (cause) {
    const message = `The local storage of ${origin} could not be read: its page does not answer, or has a dialog open`;
    throw new TroupeError('ACTION_FAILED', message, undefined, { cause });
  }
}
