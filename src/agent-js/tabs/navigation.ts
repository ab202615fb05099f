import type { CdpEvent, CdpFrame } from '../browser/cdp.js';

/** A navigation that has begun in the main frame and has put nothing on the screen yet. */
interface PendingNavigation {
  readonly url: string;
  /** Unknown until the browser has taken it up. */
  readonly loaderId: string | undefined;
  /** A refresh waits for its moment, which may be after the page has loaded. */
  readonly scheduled: boolean;
}

/** Why a navigation came to nothing: the name that Chromium gives the error (`net::ERR_CONNECTION_REFUSED`). */
export interface NavigationFailure {
  readonly url: string;
  readonly errorText: string;
}

/** What Chromium reports of places that the gate does not connect it to. It does not say why the gate did not. */
const GATE_ERRORS: Readonly<Record<string, string>> = {
  'net::ERR_SOCKS_CONNECTION_FAILED':
    'nothing answers there, or it is closed to this session (its egress rules, or a port of localhost that is not forwarded)',
  'net::ERR_SOCKS_CONNECTION_HOST_UNREACHABLE': 'nothing answers there, or there is no such name',
};

/** A {@link NavigationFailure}'s error for people. */
export function failureWords(errorText: string): string {
  const meaning = GATE_ERRORS[errorText];
  return meaning === undefined ? errorText : `${meaning}: ${errorText}`;
}

/**
 * Follows the main frame from page to page:
 *
 *     requested or scheduled -> started -> committed (a new document) -> DOMContentLoaded -> load
 *              -> dropped (stayed)      -> dropped (a download, 204, cancelled)
 *
 * A change of address within a document (a fragment, pushState) counts as a navigation and is done at once.
 */
export class Navigation {
  /** Rises with each commit and each change of address within a document. */
  count = 0;
  url: string;
  loaderId: string | undefined;
  pending: PendingNavigation | null = null;
  /** Of the document that stands there now, where it is an error page. One for an answer without a body is none. */
  failure: NavigationFailure | null = null;
  readonly #mainFrame: string;
  /** Rises when the page's question whether to leave it is answered with Cancel. */
  stays = 0;
  /** Of the dialog that is open: it asks whether to leave the page, or one of its frames. */
  #isAsking = false;
  /** `count` when the last go, act or wait began: later navigations were not waited for yet. */
  mark = 0;
  #lifecycle = new Set<string>();
  /** Answers to document requests that may become the page; the newest few. */
  readonly #statuses = new Map<string, number>();
  readonly #errors = new Map<string, string>();
  /** Loaders of the newest few documents that stood there; true where the one before had begun to go elsewhere by then. */
  readonly #committed = new Map<string, boolean>();
  /** The loader of the navigation that began last. */
  #begun: string | undefined;

  constructor(mainFrame: string, url: string) {
    this.#mainFrame = mainFrame;
    this.url = url;
  }

  /** The HTTP status of the present document; null where it came otherwise. */
  get status(): number | null {
    // A `data:` address has an answer too, which nobody sent.
    if (this.loaderId === undefined || !/^https?:/.test(this.url)) return null;
    return this.#statuses.get(this.loaderId) ?? null;
  }

  /** The HTTP status that this loader was answered with, also if no document came of it; null if that is not known. */
  statusOf(loaderId: string): number | null {
    return this.#statuses.get(loaderId) ?? null;
  }

  /** The document of this loader stands there, or did. */
  hasCommitted(loaderId: string): boolean {
    return this.#committed.has(loaderId);
  }

  /** The document before it had begun another navigation meanwhile, which takes its place. */
  wasOvertaken(loaderId: string): boolean {
    return this.#committed.get(loaderId) === true;
  }

  /** Nothing is under way and the document is complete as far as `milestone`. */
  isSettled(milestone: 'DOMContentLoaded' | 'load'): boolean {
    return this.pending === null && this.#lifecycle.has(milestone);
  }

  /** Takes the document that stood there before this followed it. */
  adopt(frame: CdpFrame): void {
    if (this.loaderId !== undefined) return;
    this.loaderId = frame.loaderId;
    this.url = frame.url + (frame.urlFragment ?? '');
  }

  /** True when something has changed. */
  observe(event: CdpEvent): boolean {
    switch (event.method) {
      case 'Page.frameRequestedNavigation':
        if (event.params.disposition !== 'currentTab') return false;
        return this.#begin(event.params.frameId, event.params.url);
      case 'Page.frameScheduledNavigation':
        // `<meta http-equiv=refresh content=30>` is no consequence of anything that was done now.
        if (event.params.delay > 0.5) return false;
        return this.#begin(event.params.frameId, event.params.url, { scheduled: this.pending === null });
      case 'Page.frameStartedNavigating': {
        const { frameId, url, loaderId, navigationType } = event.params;
        if (navigationType === 'sameDocument' || navigationType === 'historySameDocument') return false;
        if (frameId === this.#mainFrame) this.#begun = loaderId;
        return this.#begin(frameId, url, { loaderId });
      }
      case 'Page.frameClearedScheduledNavigation':
        // Said when it was called off, and also when it has just been asked for.
        return event.params.frameId === this.#mainFrame && this.pending?.scheduled === true && this.#drop();
      case 'Page.frameStoppedLoading':
        return event.params.frameId === this.#mainFrame && this.pending?.scheduled !== true && this.#drop();
      case 'Page.javascriptDialogOpening':
        this.#isAsking = event.params.type === 'beforeunload';
        return false;
      case 'Page.javascriptDialogClosed':
        return this.#answered(event.params.result);
      case 'Browser.downloadWillBegin':
        return event.params.frameId === this.#mainFrame && this.#drop();
      case 'Page.frameNavigated':
        return event.params.frame.parentId === undefined && this.#commit(event.params.frame);
      case 'Page.navigatedWithinDocument':
        if (event.params.frameId !== this.#mainFrame) return false;
        this.url = event.params.url;
        this.count++;
        if (this.pending?.loaderId === undefined) this.pending = null;
        return true;
      case 'Page.lifecycleEvent':
        if (event.params.frameId !== this.#mainFrame) return false;
        if (event.params.loaderId !== this.loaderId) return false;
        this.#lifecycle.add(event.params.name);
        return true;
      case 'Network.responseReceived':
        if (event.params.type === 'Document')
          remember(this.#statuses, event.params.requestId, event.params.response.status);
        return false;
      case 'Network.loadingFailed':
        remember(this.#errors, event.params.requestId, event.params.errorText);
        return false;
      default:
        return false;
    }
  }

  #begin(frameId: string, url: string, more: { loaderId?: string; scheduled?: boolean } = {}): boolean {
    if (frameId !== this.#mainFrame) return false;
    const { loaderId = this.pending?.loaderId, scheduled = false } = more;
    this.pending = { url, loaderId, scheduled };
    return true;
  }

  /** What the page asked for ends with Cancel, and the browser says no more of it. One that has begun goes on, or is stopped. */
  #answered(leaves: boolean): boolean {
    const stays = this.#isAsking && !leaves;
    this.#isAsking = false;
    if (!stays) return false;
    this.stays++;
    if (this.pending?.loaderId === undefined) this.pending = null;
    return true;
  }

  #drop(): boolean {
    if (this.pending === null) return false;
    this.pending = null;
    return true;
  }

  #commit(frame: CdpFrame): boolean {
    this.count++;
    this.pending = null;
    this.loaderId = frame.loaderId;
    remember(this.#committed, frame.loaderId, this.#begun !== undefined && this.#begun !== frame.loaderId);
    this.#begun = undefined;
    this.url = frame.unreachableUrl ?? frame.url + (frame.urlFragment ?? '');
    this.#lifecycle = new Set();
    this.failure =
      frame.unreachableUrl === undefined || this.#statuses.has(frame.loaderId)
        ? null
        : { url: frame.unreachableUrl, errorText: this.#errors.get(frame.loaderId) ?? 'net::ERR_FAILED' };
    return true;
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size <= 50) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
