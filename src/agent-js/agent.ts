import { dirname, join } from 'node:path';
import { stretched } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { SessionEvent } from '../protocol/events.js';
import { readBundle } from '../script/bundle.js';
import type { CallSite, HostCall, HostCallContext, HostModule } from '../script/host-module.js';
import { actRequest } from './act-arguments.js';
import { act } from './acting/act.js';
import type { ActRequest } from './acting/act-request.js';
import { unfulfilledWait, waitFor } from './acting/wait.js';
import { Audits } from './audit/audits.js';
import { type Bounds, boundsOf } from './browser/bounds.js';
import type { BrowserPort } from './browser/browser-port.js';
import {
  locatorOf,
  locatorsOf,
  lookOptions,
  refuseMore,
  tabIndex,
  textOf,
  waitCondition,
  waitTimeout,
} from './call-arguments.js';
import { Checks } from './checks/checks.js';
import { Downloads } from './files/downloads.js';
import type { ShownNumbers } from './locating/shown-numbers.js';
import { Looks, type WholeLook } from './look/look.js';
import { stir } from './look/settled.js';
import { Papers } from './paper/papers.js';
import { Screencast } from './pictures/screencast.js';
import { SmallScreenshots } from './pictures/small-screenshots.js';
import { wantedScreenshot } from './pictures/wanted-screenshot.js';
import { readMoved, readText, readValue } from './read.js';
import { StepOrder } from './step-order.js';
import { type OtherCall, type StepCall, type StepScreenshotPolicy, Steps } from './steps.js';
import { goBack, navigate, resolveUrl } from './tabs/go.js';
import { evaluateInPage } from './tabs/page-code.js';
import type { Tab } from './tabs/tab.js';
import { Tabs } from './tabs/tabs.js';
import { Baselines } from './visual/baselines.js';
import { Visual } from './visual/visual.js';
import { VitalsCall } from './vitals/vitals-call.js';

const PRELUDE = readBundle(import.meta.url, 'prelude/agent');
const SCHEMES = ['http', 'https', 'about', 'data'] as const;
/** Default bounds of the calls (spec section 3). */
const GO_MS = 30_000;
const READ_MS = 10_000;
const ACT_MS = 10_000;
const WAIT_MS = 10_000;
/** For the title of a page that may be busy. */
const PLACE_MS = 500;
/** Stands in a transcript where a password was typed, or may have been. */
const MASK = '••••••••';

/** Everything that scripts can do to a browser, as the module that defines `agent` in the sandbox. */
export class Agent {
  readonly module: HostModule;
  /** Of the tab in front, for whoever watches the session. */
  readonly screencast: Screencast;
  readonly #browser: BrowserPort;
  readonly #emit: (event: SessionEvent) => void;
  readonly #screenshotsDir: string;
  readonly #actMs: number;
  readonly #flowsDir: string | null;
  readonly #redact: <T>(shown: T) => T;
  readonly #schemes: ReadonlySet<string>;
  /** Of the session, for what acts beside the agent. */
  readonly tabs: Tabs;
  readonly downloads: Downloads;
  readonly #steps: Steps;
  readonly #smaller: SmallScreenshots;
  readonly #checks: Checks;
  readonly #visual: Visual;
  readonly #audits: Audits;
  readonly #papers: Papers;
  readonly #vitals: VitalsCall;
  readonly #looks = new Looks();
  readonly #modelLooks = new Looks();
  readonly #stopDownloads: () => void;
  /** By the run of a flow; null: for scripts that are none. */
  readonly #numbers = new Map<number | null, ShownNumbers | null>();
  #lost: TroupeError | undefined;

  /**
   * @param options.screenshotsDir made with the first picture
   * @param options.order that of all steps of the session; this browser's alone if absent
   * @param options.named gives an event the name of this browser; the first one of a session has none
   */
  constructor(options: {
    readonly browser: BrowserPort;
    readonly emit: (event: SessionEvent) => void;
    readonly screenshotsDir: string;
    readonly stepScreenshots: StepScreenshotPolicy;
    readonly allowedSchemes?: readonly string[];
    readonly order?: StepOrder;
    readonly named?: (event: SessionEvent) => SessionEvent;
    /** Where `File.write` writes: those files can be uploaded. */
    readonly flowsDir?: string;
    /** How long an act waits for its element, in milliseconds. */
    readonly actMs?: number;
    /** What pages are compared with; `platform` is the driver and the system, as in `docker-linux`. */
    readonly baselines?: { readonly artifactsDir: string; readonly platform: string; readonly updating: boolean };
    /** Takes out of a step's arguments what nobody may see; they become a picture's file name too. */
    readonly redact?: <T>(shown: T) => T;
  }) {
    const { browser, screenshotsDir, named = (event) => event } = options;
    const emit = (event: SessionEvent) => options.emit(named(event));
    this.#browser = browser;
    this.#emit = emit;
    this.#screenshotsDir = screenshotsDir;
    this.#actMs = options.actMs ?? ACT_MS;
    this.#flowsDir = options.flowsDir ?? null;
    this.#redact = options.redact ?? ((shown) => shown);
    this.#schemes = new Set(options.allowedSchemes ?? SCHEMES);
    this.downloads = new Downloads(browser.downloadsDir, {
      emit,
      cancel: (guid) => void browser.send('Browser.cancelDownload', { guid }).catch(() => undefined),
      redact: this.#redact,
    });
    this.#stopDownloads = browser.listen((event) => this.downloads.observe(event));
    this.tabs = new Tabs(browser, emit);
    void browser.lost.then(({ error }) => {
      this.#lost = error;
      // Whoever waits on a tab finds that it is closed.
      this.tabs.close();
    });
    this.screencast = new Screencast(browser);
    const { stepScreenshots: policy } = options;
    this.#smaller = new SmallScreenshots(this.screencast, () => browser.pageSize);
    const order = options.order ?? new StepOrder(options.emit, 1);
    this.#steps = new Steps({ order, named, dir: screenshotsDir, smaller: this.#smaller, policy });
    const waitMs = this.#actMs;
    this.#checks = new Checks({ tabs: this.tabs, steps: this.#steps, waitMs, redact: this.#redact });
    const { artifactsDir = screenshotsDir, platform = process.platform, updating = false } = options.baselines ?? {};
    const baselines = new Baselines({ flowsDir: this.#flowsDir, artifactsDir, platform, updating });
    const { tabs } = this;
    this.#visual = new Visual({
      tabs,
      steps: this.#steps,
      baselines,
      smaller: this.#smaller,
      screenshotsDir,
      waitMs,
      redact: this.#redact,
    });
    const dir = join(dirname(screenshotsDir), 'pdf');
    this.#papers = new Papers({ tabs, steps: this.#steps, dir, redact: this.#redact });
    this.#vitals = new VitalsCall({ tabs, steps: this.#steps });
    this.#audits = new Audits({ tabs, steps: this.#steps, redact: this.#redact });
    this.module = { name: 'agent', prelude: PRELUDE, calls: this.#calls() };
  }

  /** Where the active page stands, for errors that no call of the agent made; null without a page. */
  async place(): Promise<{ readonly url: string; readonly title: string } | null> {
    const bounds = { deadline: performance.now() + stretched(PLACE_MS), signal: new AbortController().signal };
    return (await this.#activeTab()?.place(bounds)) ?? null;
  }

  /**
   * The page as a model at work is to see it: with what changed since it saw it last. What scripts see of changes is
   * not touched by it.
   */
  async see(bounds: Bounds): Promise<WholeLook> {
    const look = await this.#modelLooks.look(this.tabs, { full: false, within: null }, bounds);
    this.#numbers.set(null, this.#modelLooks.numbers);
    return look;
  }

  /** Takes in what the sandbox emits: a match that failed is a step. */
  observe(event: SessionEvent): void {
    if (event.type === 'AssertionChecked' && !event.data.ok) this.#checks.matchFailed(event.data);
  }

  /**
   * Runs what another library does to the page as a step of the transcript.
   */
  async otherStep<T extends object>(call: OtherCall, site: CallSite, body: () => Promise<T>): Promise<T> {
    this.#throwIfLost();
    const step = {
      method: call.method,
      shownArgs: () => [this.#redact(call.slug())],
      source: () => this.#redact(call.source()),
      shownResult: call.shownResult,
      touched: () => true,
      tab: () => this.#activeTab(),
      picture: 'after',
    } as const;
    return this.#steps.run(step, site, () => {
      const tab = this.#activeTab();
      if (tab !== undefined) stir(tab);
      return body();
    });
  }

  /** The CDP session of the tab that a person would have in front. */
  get activePage(): string | undefined {
    return this.#activeTab()?.session;
  }

  /** From now on no picture of a step changes the view: it is filmed, or another library sets its size when it likes. */
  keepView(): void {
    this.#smaller.keepView();
  }

  /** A person has had control: what is seen may have changed without a step. */
  changed(): void {
    this.#steps.changed();
  }

  /** Tells of every step that has ended at once, without the picture that it waits for. */
  flush(): void {
    this.#steps.flush();
  }

  /** Every step that has ended has been told when this settles; bounded by a picture's time, 3 s. */
  settle(): Promise<void> {
    return this.#steps.settle();
  }

  /** Lets go of the browser. Idempotent. */
  async dispose(): Promise<void> {
    await this.#steps.settle();
    this.#steps.close();
    this.screencast.close();
    await this.#visual.close();
    this.#stopDownloads();
    this.tabs.close();
  }

  #calls(): { readonly [method: string]: HostCall } {
    const calls: { readonly [method: string]: HostCall } = {
      go: ([url], context) => this.#go(textOf(url, 'agent.go takes a URL'), context),
      back: (_, context) => this.#back(context),
      look: async ([options, has], context) => {
        const known = typeof has === 'number' ? has : null;
        const look = await this.#looks.lookFor(known, this.tabs, lookOptions(options), boundsOf(context, READ_MS));
        this.#numbers.set(context.site.flowRun, this.#looks.numbers);
        return look;
      },
      act: ([locator, action, value, options], context) =>
        this.#act(actRequest(locator, action, value, options), context),
      wait: ([condition, options], context) => this.#wait(condition, options, context),
      text: async ([locator], context) => {
        return readText(this.tabs.active, locatorOf(locator, 'text'), boundsOf(context, READ_MS));
      },
      read: async ([locator], context) =>
        readText(this.tabs.active, locatorOf(locator, 'read'), boundsOf(context, READ_MS), true),
      value: async ([locator], context) => {
        const wanted = textOf(locator, 'agent.value takes a locator');
        return readValue(this.tabs.active, wanted, boundsOf(context, READ_MS));
      },
      recount: ([locators], context) => readMoved(this.tabs.active, locatorsOf(locators), boundsOf(context, READ_MS)),
      expect: (args, context) => this.#checks.expect(args, context),
      until: (args, context) => this.#checks.until(args, context),
      ...this.#visual.calls,
      ...this.#audits.calls,
      ...this.#vitals.calls,
      ...this.#papers.calls,
      screenshot: ([title], context) => {
        const [tabs, steps] = [this.tabs, this.#steps];
        return wantedScreenshot(title, context, { tabs, steps, dir: this.#screenshotsDir, emit: this.#emit });
      },
      page: async ([js], context) => {
        const text = textOf(js, 'agent.page takes JavaScript as text');
        await this.#steps.ready();
        this.#steps.changed();
        return evaluateInPage(this.tabs.active, text, boundsOf(context, Number.POSITIVE_INFINITY));
      },
      tabs: (_, context) => this.#listTabs(context),
      tab: async ([index], context) => {
        await this.#steps.ready();
        this.#steps.changed();
        return this.#selectTab(index, boundsOf(context, READ_MS));
      },
      dialogs: () => Promise.resolve(this.tabs.dialogs),
      downloads: (_, context) => this.downloads.list(boundsOf(context, READ_MS)),
    };
    return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, this.#placed(name, call)]));
  }

  /** Every error of a call says where the page stood. */
  #placed(name: string, call: HostCall): HostCall {
    return async (args, context) => {
      try {
        this.#throwIfLost();
        refuseMore(name, args);
        const { flowRun } = context.site;
        this.tabs.asker = { flowRun, numbers: this.#numbersFor(flowRun) };
        return await call(args, context);
      } catch (error) {
        this.#throwIfLost();
        const tab = this.#activeTab();
        if (!(error instanceof TroupeError) || tab === undefined || error.details?.url !== undefined) throw error;
        const place = await tab.place(boundsOf(context, PLACE_MS));
        throw new TroupeError(error.code, error.message, { ...place, ...error.details }, { cause: error });
      }
    };
  }

  /** A flow begins with none, and those of the flows that it called end with them. */
  #numbersFor(flowRun: number | null): ShownNumbers | null {
    for (const run of this.#numbers.keys()) if (run !== null && run > (flowRun ?? 0)) this.#numbers.delete(run);
    return this.#numbers.get(flowRun) ?? null;
  }

  #throwIfLost(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  #go(source: string, context: HostCallContext): Promise<object> {
    return this.#step(
      'go',
      () => [source],
      context,
      this.#whenLeft(),
      async () => {
        const bounds = boundsOf(context, GO_MS);
        const tab = await this.tabs.activeOrNew();
        stir(tab);
        const gone = await navigate(tab, resolveUrl(source, tab.url, this.#schemes), bounds);
        const { dialog } = tab;
        return dialog === null ? gone : { ...gone, dialog: { kind: dialog.kind, message: dialog.message } };
      },
    );
  }

  #back(context: HostCallContext): Promise<object> {
    return this.#step(
      'back',
      () => [],
      context,
      this.#whenLeft(),
      async () => {
        stir(this.tabs.active);
        const { url, title } = await goBack(this.tabs.active, boundsOf(context, GO_MS));
        return { url, title };
      },
    );
  }

  #act(request: ActRequest, context: HostCallContext): Promise<object> {
    const { locator, action, value, given, timeoutMs = this.#actMs } = request;
    const [, ...options] = given;
    // Until the field is known, a text may be a password.
    const typed = action === 'input' || action === 'press';
    let secret = typed && value !== null && !/^(Enter|Tab|Escape|Arrow\w+|\w+\+\w+)$/.test(String(value));
    const shown = () => [locator, action, secret ? MASK : (value ?? given[0]), ...options];
    let found = false;
    return this.#step(
      'act',
      shown,
      context,
      () => found,
      async () => {
        stir(this.tabs.active);
        return act(this.tabs, request, {
          uploadsDir: this.#browser.uploadsDir,
          flowsDir: this.#flowsDir,
          downloads: this.downloads,
          bounds: boundsOf(context, timeoutMs),
          after: boundsOf(context, GO_MS),
          onField: ({ password }) => {
            found = true;
            secret = password && typed;
          },
        });
      },
    );
  }

  async #wait(condition: unknown, options: unknown, context: HostCallContext): Promise<object> {
    const wanted = waitCondition(condition);
    const began = { at: new Date().toISOString(), from: performance.now() };
    const timeoutMs = waitTimeout(options) ?? WAIT_MS;
    try {
      const longest = typeof wanted === 'number' ? Number.POSITIVE_INFINITY : timeoutMs;
      await waitFor(this.tabs, wanted, boundsOf(context, longest));
      this.#steps.changed();
      return { waitedMs: Math.round(performance.now() - began.from) };
    } catch (error) {
      const failed = unfulfilledWait(error, wanted, Math.round(performance.now() - began.from));
      // Waits are no steps; one that failed is, for its picture.
      const shown = () => (options === undefined ? [condition] : [condition, options]);
      const call = this.#stepCall('wait', shown, () => false);
      return this.#steps.check(call, context.site, began, () => Promise.reject(failed));
    }
  }

  #listTabs(context: HostCallContext): Promise<object[]> {
    const active = this.#activeTab();
    const describe = async (tab: Tab, index: number) => ({
      index,
      ...(await tab.place(boundsOf(context, PLACE_MS))),
      active: tab === active,
    });
    return Promise.all(this.tabs.all.map(describe));
  }

  async #selectTab(index: unknown, bounds: Bounds): Promise<object> {
    const wanted = tabIndex(index);
    const tab = await this.tabs.activate(wanted, bounds);
    return { index: wanted, ...(await tab.place(bounds)), active: true };
  }

  #step<T extends object>(
    method: string,
    shownArgs: () => readonly unknown[],
    context: HostCallContext,
    touched: () => boolean,
    body: () => Promise<T>,
  ): Promise<T> {
    return this.#steps.run(this.#stepCall(method, shownArgs, touched), context.site, body);
  }

  #stepCall(method: string, shownArgs: () => readonly unknown[], touched: () => boolean): StepCall {
    const tab = () => this.#activeTab();
    return { method, shownArgs: () => this.#redact(shownArgs()), touched, tab, picture: 'after' };
  }

  /** Asked whether the tab that is active now shows another page by then. */
  #whenLeft(): () => boolean {
    const tab = this.#activeTab();
    const before = tab?.navigation.count;
    return () => tab === undefined || tab.navigation.count !== before;
  }

  #activeTab(): Tab | undefined {
    return this.tabs.all.length === 0 ? undefined : this.tabs.active;
  }
}
