import { stretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, remainingMs, throwIfCancelled, within } from '../browser/bounds.js';
import type { CdpResult } from '../browser/cdp.js';
import { answerDialog } from './dialog-controls.js';
import { failureWords } from './navigation.js';
import type { Tab } from './tab.js';

/** What a page that does not answer is given before its script is stopped. */
const HUNG_MS = stretched(1_500);
const STOP_MS = stretched(500);
/** After a failed navigation the browser shows an error page. */
const ERROR_PAGE_MS = stretched(1_000);
/** A document that was asked for is there by then, after one that came before it. */
const OVERTAKEN_MS = stretched(1_000);
/** A navigation that the page had asked for before its scripts were stopped may still overtake the next one. */
const MAX_TRIES = 10;
/** Begins as the name of a host does, and may be a relative path. */
const LIKE_HOST = /^(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]+(?=[/?#]|$)/u;
/** What nobody calls a file. */
const SURELY_HOST = /^www\.|\.(?:com|net|org)$/i;
/** Pages that send on by themselves, one after another; Fetch follows as many redirects. */
const MAX_STOPS = 20;

export interface Gone {
  readonly url: string;
  readonly title: string;
  /** Null where the page came without HTTP: `about:`, `data:`, a change of fragment. */
  readonly status: number | null;
}

/** An address as a script gives it, resolved against the page's own. @throws ACTION_FAILED for one that may not be visited */
export function resolveUrl(source: string, base: string, schemes: ReadonlySet<string>): string {
  const [host] = LIKE_HOST.exec(source.trim()) ?? [];
  const whole = host === undefined ? '' : `. Did you mean https://${source.trim()}?`;
  // Resolved against the page, it would be a path that is not there.
  if (host !== undefined && SURELY_HOST.test(host)) {
    throw new TroupeError('ACTION_FAILED', `${JSON.stringify(source)} has no scheme${whole}`);
  }
  const url = URL.canParse(source, base) ? new URL(source, base) : undefined;
  if (url === undefined) {
    const alone = /^https?:/.test(base) ? '' : ', and there is no page to resolve it against';
    throw new TroupeError('ACTION_FAILED', `${JSON.stringify(source)} is not a URL${alone}${whole}`);
  }
  if (!schemes.has(url.protocol.slice(0, -1))) {
    // To a URL parser, `localhost:4500` is of the scheme `localhost`.
    const host = /^[\w.-]+:\d+(\/|$)/.test(source) ? `. Did you mean http://${source}?` : '';
    const allowed = [...schemes].join(', ');
    const message = `${url.protocol} addresses may not be visited; allowed are ${allowed}${host}`;
    throw new TroupeError('ACTION_FAILED', message);
  }
  return url.href;
}

/**
 * Navigates and waits for the load event. Open dialogs are dismissed, questions whether to leave answered with yes.
 *
 * @throws ACTION_FAILED with the net::ERR name, WAIT_TIMEOUT when the page does not finish loading
 */
export async function navigate(tab: Tab, url: string, bounds: Bounds): Promise<Gone> {
  const { stays } = tab.navigation;
  return leave(tab, bounds, async () => {
    let answer = await request(tab, url, bounds);
    for (let tries = 1; await isOvertaken(tab, answer, bounds); tries += 1) {
      if (tries === MAX_TRIES) {
        throw new TroupeError('ACTION_FAILED', `${url} was not loaded: the page keeps navigating elsewhere`);
      }
      await holdStill(tab, bounds);
      answer = await request(tab, url, bounds);
    }
    if (answer.isDownload === true) return 'stays';
    if (answer.errorText === 'net::ERR_ABORTED' && tab.navigation.stays > stays) throw heldBack(url);
    const status = answer.loaderId === undefined ? null : tab.navigation.statusOf(answer.loaderId);
    // The server has answered, and there is nothing to show.
    if (answer.errorText === 'net::ERR_ABORTED' && (status === 204 || status === 205)) return { status };
    // An answer like 404 without a body: the browser shows a page of its own, and the server was reached.
    if (answer.errorText !== undefined && answer.errorText !== 'net::ERR_HTTP_RESPONSE_CODE_FAILURE') {
      await tab.until(() => tab.navigation.failure !== null, within(bounds, ERROR_PAGE_MS));
      throw new TroupeError('ACTION_FAILED', `${url} cannot be reached: ${failureWords(answer.errorText)}`);
    }
    return answer.loaderId === undefined ? 'stays' : 'leaves';
  });
}

/** What the browser says of a navigation, and how many there were before it was asked for. */
type Answer = CdpResult<'Page.navigate'> & { readonly before: number };

async function request(tab: Tab, url: string, bounds: Bounds): Promise<Answer> {
  const before = tab.navigation.count;
  const answer = await tab.command('Page.navigate', { url }, bounds).catch((error: unknown) => {
    if (!(error instanceof TroupeError) || error.code !== 'WAIT_TIMEOUT') throw error;
    throw new TroupeError('WAIT_TIMEOUT', `${url} did not answer in time`);
  });
  return { ...answer, before };
}

/** True where the page went somewhere by itself meanwhile, and what was asked for does not come or does not stay. */
async function isOvertaken(
  tab: Tab,
  { loaderId, errorText, isDownload, before }: Answer,
  bounds: Bounds,
): Promise<boolean> {
  const { navigation } = tab;
  if (isDownload === true || loaderId === undefined) return false;
  if (errorText !== undefined) return errorText === 'net::ERR_ABORTED' && navigation.count > before;
  const isThere = (): boolean => navigation.hasCommitted(loaderId);
  await tab.until(() => isThere() || navigation.count > before || tab.dialog !== null, bounds);
  if (!isThere() && navigation.count === before) return false;
  return !(await tab.until(isThere, within(bounds, OVERTAKEN_MS))) || navigation.wasOvertaken(loaderId);
}

/** Leaves a page that navigates by itself all the time: without its scripts, and by way of an empty page. */
async function holdStill(tab: Tab, bounds: Bounds): Promise<void> {
  await tab.command('Emulation.setScriptExecutionDisabled', { value: true }, bounds);
  try {
    // Refused between two documents, where there is nothing to stop.
    await tab.send('Page.stopLoading', {}, STOP_MS).catch(() => undefined);
    const { loaderId } = await tab.command('Page.navigate', { url: 'about:blank' }, bounds);
    if (loaderId !== undefined)
      await tab.until(() => tab.navigation.hasCommitted(loaderId), within(bounds, OVERTAKEN_MS));
  } finally {
    await tab.send('Emulation.setScriptExecutionDisabled', { value: false }, STOP_MS).catch(() => undefined);
  }
}

function heldBack(url: string): TroupeError {
  return new TroupeError(
    'ACTION_FAILED',
    `${url} was not loaded: the page asked whether to leave it, and was answered with Cancel`,
  );
}

/** One step back in the tab's history. @throws ACTION_FAILED at its beginning */
export async function goBack(tab: Tab, bounds: Bounds): Promise<Gone> {
  return leave(tab, bounds, async () => {
    const { currentIndex, entries } = await tab.command('Page.getNavigationHistory', {}, bounds);
    const entry = entries[currentIndex - 1];
    if (entry === undefined) throw new TroupeError('ACTION_FAILED', 'There is no page to go back to');
    const { navigation } = tab;
    const { count, stays } = navigation;
    await tab.command('Page.navigateToHistoryEntry', { entryId: entry.id }, bounds);
    await tab.until(() => navigation.count > count || navigation.stays > stays, bounds);
    if (navigation.count === count && navigation.stays > stays) throw heldBack(entry.url);
    return 'leaves';
  });
}

/** What came of a navigation: another document, or none; a status if the server answered that there is none. */
type Outcome = 'leaves' | 'stays' | { readonly status: number };

async function leave(tab: Tab, bounds: Bounds, start: () => Promise<Outcome>): Promise<Gone> {
  const { navigation } = tab;
  if (tab.state === 'crashed') tab.state = 'open';
  navigation.mark = navigation.count;
  const before = navigation.count;
  let onItsWay = true;
  const clearing = clearTheWay(tab, () => !onItsWay || navigation.count > before, bounds);
  try {
    await stopHungScript(tab, bounds);
    const outcome = await start();
    if (outcome === 'leaves') return await arrived(tab, before, bounds);
    const { status } = outcome === 'stays' ? navigation : outcome;
    return { ...(await tab.place(bounds)), status };
  } catch (error) {
    // A page that comes after its time would take the place of whatever the script does next.
    if (navigation.count === before) await tab.send('Page.stopLoading', {}, STOP_MS).catch(() => undefined);
    throw error;
  } finally {
    onItsWay = false;
    tab.note(() => undefined);
    await clearing;
  }
}

/**
 * A page whose script runs for ever cannot be left either: its script is stopped, and where it cannot be, its renderer.
 * Asked before the navigation begins: after that the browser passes nothing on to the page.
 */
async function stopHungScript(tab: Tab, bounds: Bounds): Promise<void> {
  if (await answers(tab, within(bounds, Math.min(HUNG_MS, remainingMs(bounds) / 3)))) return;
  await tab.send('Runtime.terminateExecution', {}, STOP_MS).catch(() => undefined);
  if (await answers(tab, within(bounds, Math.min(STOP_MS, remainingMs(bounds) / 3)))) return;
  // A loop of alerts outlives even that. Nothing of the page is lost that this navigation would not take.
  await tab.send('Page.crash', {}, STOP_MS).catch(() => undefined);
  await tab.until(() => false, within(bounds, STOP_MS)).catch(() => undefined);
  if (tab.state === 'crashed') tab.state = 'open';
}

async function answers(tab: Tab, bounds: Bounds): Promise<boolean> {
  return tab.command('Runtime.evaluate', { expression: '0' }, bounds).then(
    () => true,
    () => {
      throwIfCancelled(bounds);
      return tab.state !== 'open';
    },
  );
}

/** Where the navigation ended. A page that is there may send on to another, which it says just after its load event. */
async function arrived(tab: Tab, before: number, bounds: Bounds): Promise<Gone> {
  const { navigation } = tab;
  for (let stops = 1; ; stops += 1) {
    await loaded(tab, before, bounds);
    const { status } = navigation;
    // Its answer comes after all that the page has said by then.
    const place = await tab.place(bounds);
    if (navigation.pending === null || tab.dialog !== null || stops === MAX_STOPS) return { ...place, status };
  }
}

async function loaded(tab: Tab, before: number, bounds: Bounds): Promise<void> {
  const { navigation } = tab;
  const committed = () => navigation.count > before;
  // A dialog of the new page stops its loading; it is the script's turn to answer it.
  const done = await tab.until(() => committed() && (navigation.isSettled('load') || tab.dialog !== null), bounds);
  if (done) return;
  const state = navigation.isSettled('DOMContentLoaded')
    ? 'its document is there, but it is still loading'
    : 'it is still loading';
  throw new TroupeError('WAIT_TIMEOUT', `${navigation.url} did not finish loading in time: ${state}`);
}

async function clearTheWay(tab: Tab, gone: () => boolean, bounds: Bounds): Promise<void> {
  try {
    while (!gone() && (await tab.until(() => gone() || tab.dialog !== null, bounds))) {
      if (!gone()) await answerDialog(tab, tab.dialog?.kind === 'beforeunload', bounds);
    }
  } catch {
    // Whoever navigates finds out for himself what ended it.
  }
}
