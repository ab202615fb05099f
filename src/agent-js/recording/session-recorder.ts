import { PageAct, type RecordedAct } from '../../protocol/recording/recorded-act.js';
import { readBundle } from '../../script/bundle.js';
import type { Bounds } from '../browser/bounds.js';
import type { BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent } from '../browser/cdp.js';
import { RECORDED } from '../tabs/page-calls.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';

const SOURCE = `(${readBundle(import.meta.url, '../page/recorder')})()`;
/** Text is recorded once nobody has typed for so long. */
const REST_MS = 400;
/** A step through the history soon after an act is what the page makes of it. */
const FOLLOWS_MS = 1_000;
/** A longer message of a page is none of a recorder's. */
const MAX_MESSAGE = 200_000;

/** A recorded act. `replaces`: it replaces the act before it. */
export interface ToldAct {
  readonly act: RecordedAct;
  readonly replaces: boolean;
}

/** What has happened in a tab that nobody has asked a page for. */
interface History {
  /** The page itself asked for the navigation under way. */
  requested: boolean;
  /** What kind of navigation the browser has begun; null: none of its own. */
  kind: string | null;
}

/** The addresses that a tab has shown, and which of them it shows. */
interface Visited {
  readonly urls: string[];
  at: number;
}

/** Writes down what a person does in the browser of a session, in all its tabs. */
export class SessionRecorder {
  readonly #browser: BrowserPort;
  readonly #tabs: Tabs;
  readonly #tell: (told: ToldAct) => void;
  readonly #stops: (() => void)[] = [];
  readonly #history = new Map<Tab, History>();
  readonly #visited = new WeakMap<Tab, Visited>();
  /** Tabs that have shown a document since they were opened. */
  readonly #shown = new WeakSet<Tab>();
  /** Whose act was the last, by CDP session; null: none of a page. */
  #lastBy: string | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  #current: Tab | undefined;
  #resting: { readonly told: ToldAct; readonly timer: NodeJS.Timeout } | null = null;

  constructor(browser: BrowserPort, tabs: Tabs, tell: (told: ToldAct) => void) {
    this.#browser = browser;
    this.#tabs = tabs;
    this.#tell = tell;
  }

  /** Begins with the page in front, if it shows one. Idempotent. */
  start(): void {
    if (this.#stops.length > 0) return;
    this.#current = this.#tabs.all.length > 0 ? this.#tabs.active : undefined;
    for (const tab of this.#tabs.all) this.#visited.set(tab, { urls: [tab.url], at: 0 });
    const url = this.#current?.url ?? '';
    if (isWritable(url)) this.#say({ act: { kind: 'go', url }, replaces: false }, null);
    this.#stops.push(
      this.#browser.listen((event) => this.#observe(event)),
      this.#browser.onPage(({ session }) => this.#attached(this.#tabOf(session))),
    );
  }

  /** A tab that the one in front opens comes to the front. */
  #attached(tab: Tab | undefined): void {
    tab?.frames.record(SOURCE);
    if (tab?.openerId !== undefined && tab.openerId === this.#current?.targetId) this.#from(tab);
  }

  /** Records nothing from then on. Idempotent. */
  stop(): void {
    this.#flush();
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** The next click says what is there, instead of being one. */
  async assertNext(bounds: Bounds): Promise<void> {
    const { frames } = this.#tabs.active;
    const worlds = [frames.main, ...frames.apart.flatMap((frame) => frames.world(frame) ?? [])];
    await Promise.all(worlds.map((world) => world.evaluate('globalThis.troupeRecorder?.assertNext()', bounds)));
  }

  #observe(event: CdpEvent): void {
    const tab = this.#tabOf(event.session);
    if (tab === undefined) return;
    switch (event.method) {
      case 'Runtime.bindingCalled':
        if (event.params.name === RECORDED) this.#heard(tab, event.session ?? '', event.params.payload);
        return;
      case 'Page.javascriptDialogClosed': {
        const { result, userInput } = event.params;
        const input = result && userInput !== '' ? userInput : null;
        this.#from(tab);
        this.#say({ act: { kind: 'dialog', accepted: result, input }, replaces: false }, null);
        return;
      }
      default:
        if (event.session === tab.session) this.#observeHistory(tab, event);
    }
  }

  #heard(tab: Tab, session: string, payload: string): void {
    if (payload.length > MAX_MESSAGE) return;
    const parsed = PageAct.safeParse(JSON.parse(payload));
    if (!parsed.success) return;
    this.#from(tab);
    const { act, replaces } = parsed.data;
    this.#say({ act, replaces: replaces && this.#lastBy === session }, session);
  }

  /** Another tab than before is in front. */
  #from(tab: Tab): void {
    const before = this.#current;
    if (before === tab) return;
    this.#current = tab;
    const opened = before !== undefined && tab.openerId === before.targetId;
    this.#say({ act: { kind: 'tab', index: this.#tabs.all.indexOf(tab), opened }, replaces: false }, null);
  }

  #observeHistory(tab: Tab, event: CdpEvent): void {
    const history = this.#history.get(tab) ?? { requested: false, kind: null };
    this.#history.set(tab, history);
    switch (event.method) {
      case 'Page.frameRequestedNavigation':
        if (event.params.frameId === tab.targetId) history.requested = true;
        return;
      case 'Page.frameStartedNavigating':
        if (event.params.frameId === tab.targetId) history.kind = event.params.navigationType;
        return;
      case 'Page.frameNavigated':
        if (event.params.frame.parentId !== undefined) return;
        this.#arrived(tab, history, event.params.frame.url + (event.params.frame.urlFragment ?? ''));
        this.#history.delete(tab);
        return;
      case 'Page.navigatedWithinDocument':
        if (event.params.frameId !== tab.targetId) return;
        if (history.kind === 'historySameDocument') this.#arrived(tab, history, event.params.url);
        else this.#visits(tab, event.params.url, history.kind);
        this.#history.delete(tab);
        return;
      default:
    }
  }

  /** A document came that no page had asked for: a person wrote its address, or stepped through the history. */
  #arrived(tab: Tab, { requested, kind }: History, url: string): void {
    // What a new tab shows first, the page that opened it has asked for.
    const isFirst = !this.#shown.has(tab) && tab.openerId !== undefined;
    this.#shown.add(tab);
    const wentBack = this.#visits(tab, url, kind);
    if (requested || kind === null || isFirst) return;
    const isHistory = kind.startsWith('history');
    if (isHistory && performance.now() - this.#lastAt < FOLLOWS_MS) return;
    if (!wentBack && !isWritable(url)) return;
    this.#from(tab);
    // A flow cannot go forward, but to the same address.
    this.#say({ act: wentBack ? { kind: 'back' } : { kind: 'go', url }, replaces: false }, null);
  }

  /** Takes in where a tab is now. Returns whether it went one step back in its history. */
  #visits(tab: Tab, url: string, kind: string | null): boolean {
    const visited = this.#visited.get(tab) ?? { urls: [], at: -1 };
    this.#visited.set(tab, visited);
    const { urls, at } = visited;
    if (kind?.startsWith('history') === true && (urls[at - 1] === url || urls[at + 1] === url)) {
      visited.at += urls[at - 1] === url ? -1 : 1;
      return visited.at < at;
    }
    if (urls[at] === url) return false;
    urls.splice(at + 1, Number.POSITIVE_INFINITY, url);
    visited.at = urls.length - 1;
    return false;
  }

  #say(told: ToldAct, by: string | null): void {
    this.#lastBy = by;
    // Where a person goes, a page has not heard of.
    if (!/^(go|back|tab)$/.test(told.act.kind)) this.#lastAt = performance.now();
    const resting = this.#resting;
    if (resting !== null && told.replaces) {
      clearTimeout(resting.timer);
      this.#resting = null;
      this.#put({ act: told.act, replaces: resting.told.replaces });
      return;
    }
    this.#flush();
    this.#put(told);
  }

  #put(told: ToldAct): void {
    if (told.act.kind !== 'act' || told.act.action !== 'input') {
      this.#tell(told);
      return;
    }
    this.#resting = { told, timer: setTimeout(() => this.#flush(), REST_MS) };
  }

  #flush(): void {
    const resting = this.#resting;
    if (resting === null) return;
    clearTimeout(resting.timer);
    this.#resting = null;
    this.#tell(resting.told);
  }

  #tabOf(session: string | undefined): Tab | undefined {
    if (session === undefined) return undefined;
    return this.#tabs.all.find((tab) => tab.session === session || tab.frames.has(session));
  }
}

/** Pages that a flow can open. */
function isWritable(url: string): boolean {
  return /^(https?|data):/.test(url);
}
