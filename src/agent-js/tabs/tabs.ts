import { TroupeError } from '../../protocol/errors.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { Bounds } from '../browser/bounds.js';
import type { AttachedPage, BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent } from '../browser/cdp.js';
import type { Asker } from '../locating/shown-numbers.js';
import { PageErrors } from './page-errors.js';
import { Tab } from './tab.js';

/** Dialogs remembered; the oldest go. */
const MAX_DIALOGS = 100;
const MAX_MESSAGE = 2_000;

/** A dialog that a page has opened. */
interface SeenDialog {
  readonly kind: string;
  readonly message: string;
  readonly url: string;
}

/** The session's tabs. What the active one opens becomes the active one, as it does on a person's screen. */
export class Tabs {
  /** Who makes the next call. */
  asker: Asker = { flowRun: null, numbers: null };
  /** How many tabs there have been. */
  opened = 0;
  readonly #browser: BrowserPort;
  readonly #emit: (event: SessionEvent) => void;
  readonly #errors: PageErrors;
  readonly #bySession = new Map<string, Tab>();
  readonly #dialogs: SeenDialog[] = [];
  readonly #stops: (() => void)[];
  #active: Tab | undefined;

  constructor(browser: BrowserPort, emit: (event: SessionEvent) => void) {
    this.#browser = browser;
    this.#emit = emit;
    this.#errors = new PageErrors(emit);
    this.#stops = [browser.listen((event) => this.#observe(event)), browser.onPage((page) => this.#attached(page))];
  }

  get all(): readonly Tab[] {
    return [...this.#bySession.values()];
  }

  get dialogs(): readonly SeenDialog[] {
    return [...this.#dialogs];
  }

  /** The tab that calls go to. @throws ACTION_FAILED when every tab has been closed */
  get active(): Tab {
    if (this.#active === undefined) throw new TroupeError('ACTION_FAILED', 'No tab is open; agent.go() opens one');
    return this.#active;
  }

  /** The active tab; a new one where every tab has been closed. */
  async activeOrNew(): Promise<Tab> {
    if (this.#active === undefined) await this.#browser.send('Target.createTarget', { url: 'about:blank' });
    return this.active;
  }

  /** @param index as {@link Tabs.all} counts, from 0 */
  async activate(index: number, bounds: Bounds): Promise<Tab> {
    const tab = this.all[index];
    if (tab === undefined) {
      const last = this.#bySession.size - 1;
      const there = last > 0 ? `there are 0 to ${last}` : 'there is only 0';
      throw new TroupeError('ACTION_FAILED', `There is no tab ${index}: ${there}`);
    }
    this.#setActive(tab);
    // A tab behind another draws nothing and takes no input.
    await tab.send('Page.bringToFront', {}, Math.max(1, bounds.deadline - performance.now())).catch(() => undefined);
    return tab;
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
    for (const tab of this.#bySession.values()) tab.close();
    this.#bySession.clear();
    this.#active = undefined;
  }

  #attached(page: AttachedPage): void {
    const tab = new Tab(this.#browser, page, () => this.asker);
    this.opened += 1;
    this.#bySession.set(page.session, tab);
    const opener = this.all.find((other) => other.targetId === page.openerId);
    if (this.#active === undefined || (opener !== undefined && opener === this.#active)) this.#setActive(tab);
    opener?.note(() => {
      opener.openingWindows = Math.max(0, opener.openingWindows - 1);
    });
  }

  #setActive(tab: Tab | undefined): void {
    const before = this.#active;
    this.#active = tab;
    // Whoever waits on the old one looks again.
    before?.note(() => undefined);
  }

  #observe(event: CdpEvent): void {
    if (event.session === undefined) this.#observeBrowser(event);
    const tab = this.#tabOf(event.session ?? '');
    if (tab === undefined) return;
    tab.observe(event);
    this.#errors.observe(event, tab.url);
    if (event.method === 'Page.javascriptDialogOpening') {
      const { type, message } = event.params;
      const seen = { kind: type, message: message.slice(0, MAX_MESSAGE) };
      this.#dialogs.push({ ...seen, url: tab.url });
      if (this.#dialogs.length > MAX_DIALOGS) this.#dialogs.shift();
      this.#emit({ type: 'DialogOpened', data: seen });
    }
  }

  /** Frames that other processes draw have sessions of their own. */
  #tabOf(session: string): Tab | undefined {
    return this.#bySession.get(session) ?? this.all.find((tab) => tab.frames.has(session));
  }

  #observeBrowser(event: CdpEvent): void {
    switch (event.method) {
      case 'Target.targetInfoChanged': {
        const { targetId, title } = event.params.targetInfo;
        const tab = this.all.find((one) => one.targetId === targetId);
        tab?.note(() => {
          tab.title = title;
        });
        return;
      }
      case 'Target.detachedFromTarget':
        this.#detached(event.params.sessionId);
        return;
      case 'Browser.downloadWillBegin':
        for (const tab of this.all) tab.observe(event);
        return;
      default:
    }
  }

  #detached(session: string): void {
    const tab = this.#bySession.get(session);
    if (tab === undefined) return;
    this.#bySession.delete(session);
    if (this.#active === tab) {
      const opener = this.all.find((other) => other.targetId === tab.openerId);
      this.#setActive(opener ?? this.all.at(-1));
    }
    tab.close();
  }
}
