import { stretched } from '../../base/deadline.js';
import { OWN_DIALOG, type PageCallName, type PageCalls } from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, cancellable, remainingMs, throwIfCancelled, toAnswer } from '../browser/bounds.js';
import type { AttachedPage, BrowserPort } from '../browser/browser-port.js';
import type { CdpDragData, CdpEvent, CdpMethod, CdpParams, CdpResult } from '../browser/cdp.js';
import { Condition, type Watch } from '../browser/condition.js';
import { DeclaredRoots } from '../locating/declared-roots.js';
import type { Place } from '../locating/problem-error.js';
import type { Asker } from '../locating/shown-numbers.js';
import { BODY_BUFFERS, NetworkActivity } from '../network/network-activity.js';
import { FrameCalls } from './frame-calls.js';
import { Frames } from './frames.js';
import { Navigation } from './navigation.js';

const PLACE_SPARE_MS = stretched(250);

/** Calls that look for elements. */
const SEEING: ReadonlySet<PageCallName> = new Set([
  'look',
  'ready',
  'dropPoint',
  'box',
  'spot',
  'text',
  'value',
  'waitFor',
  'observe',
]);

/** An alert, confirm, prompt or beforeunload question that holds the page. */
export interface OpenDialog {
  readonly kind: string;
  readonly message: string;
  /** The outermost document has opened it, not a frame in it. */
  readonly isOutermost: boolean;
  /** What will be answered to a prompt; null for the others. */
  input: string | null;
}

/** What came of asking the page: its answer, or what came between. */
export type Asked<T> = { readonly kind: 'answer'; readonly value: T } | { readonly kind: 'dialog' | 'navigated' };

/** One attached page: where it is, what holds it up, and its script's world. */
export class Tab {
  readonly session: string;
  readonly targetId: string;
  readonly openerId: string | undefined;
  readonly navigation: Navigation;
  readonly network: NetworkActivity;
  /** A call has begun something that the next look waits for. */
  stirred = false;
  readonly frames: Frames;
  dialog: OpenDialog | null = null;
  state: 'open' | 'crashed' | 'closed' = 'open';
  /** Windows that its scripts asked for and that have not been attached yet. */
  openingWindows = 0;
  /** The file input whose chooser the page has opened, while choosers are intercepted. */
  fileChooser: { readonly node: number; readonly multiple: boolean } | null = null;
  /** Dialogs that an action of ours has opened. */
  ownDialogs = 0;
  /** What is being dragged, while drags are intercepted. */
  drag: { readonly data: CdpDragData } | null = null;
  title: string;
  readonly #browser: BrowserPort;
  readonly #condition = new Condition();
  readonly #roots: DeclaredRoots;
  readonly #frameCalls: FrameCalls;

  /** @param asker who makes the call that is under way */
  constructor(browser: BrowserPort, page: AttachedPage, asker: () => Asker) {
    this.#browser = browser;
    this.session = page.session;
    this.targetId = page.targetId;
    this.openerId = page.openerId;
    this.title = page.title;
    // A page target's id is its main frame's.
    this.navigation = new Navigation(page.targetId, page.url);
    this.network = new NetworkActivity(() => this.#condition.changed());
    this.frames = new Frames(browser, page, (holds, bounds) => this.watch(holds, bounds));
    this.#roots = new DeclaredRoots(browser, this.frames, page.targetId);
    this.#frameCalls = new FrameCalls(this.frames, () => ({ url: this.url, title: this.title }), asker);
    this.#prepare();
  }

  get url(): string {
    return this.navigation.url;
  }

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Where the tab is, as far as it can be learned within the bounds. An error page stands for what it could not reach. */
  async place(bounds: Bounds): Promise<Place> {
    // Asked when a call has failed, often at its deadline: a page that answers does so at once.
    const deadline = Math.min(bounds.end ?? bounds.deadline, bounds.deadline + PLACE_SPARE_MS);
    for (;;) {
      const asked = await this.ask('state', null, { deadline, signal: bounds.signal }).catch(() => null);
      if (asked?.kind === 'navigated' && remainingMs(bounds) > 0) continue;
      if (asked?.kind === 'answer' && !asked.value.url.startsWith('chrome-error:')) return asked.value;
      return { url: this.url, title: this.title };
    }
  }

  send<M extends CdpMethod>(method: M, params: CdpParams<M>, timeoutMs?: number): Promise<CdpResult<M>> {
    const options = { session: this.session };
    return this.#browser.send(method, params, timeoutMs === undefined ? options : { ...options, timeoutMs });
  }

  /** A command whose answer is given up at the deadline, and when the script is cancelled. */
  async command<M extends CdpMethod>(method: M, params: CdpParams<M>, bounds: Bounds): Promise<CdpResult<M>> {
    throwIfCancelled(bounds);
    const sent = this.send(method, params, Math.max(1, remainingMs(bounds)));
    return cancellable(sent, bounds.signal);
  }

  /** Waits on this tab's state. False at the deadline; ACTION_FAILED when the tab closes or crashes. */
  until(holds: () => boolean, bounds: Bounds): Promise<boolean> {
    return this.watch(holds, bounds).settled;
  }

  /** As {@link Tab.until}, for one that may lose interest. */
  watch(holds: () => boolean, bounds: Bounds): Watch {
    return this.#condition.watch(() => {
      this.throwIfGone();
      return holds();
    }, bounds);
  }

  throwIfGone(): void {
    if (this.state === 'closed') throw new TroupeError('ACTION_FAILED', 'The tab has been closed');
    if (this.state === 'crashed')
      throw new TroupeError(
        'ACTION_FAILED',
        'The page has crashed, most often because its memory was used up; agent.go() reloads it',
      );
  }

  /** One call of the page's script that a dialog or a navigation may cut short. */
  async ask<N extends PageCallName>(name: N, args: PageCalls[N][0], bounds: Bounds): Promise<Asked<PageCalls[N][1]>> {
    throwIfCancelled(bounds);
    this.throwIfGone();
    if (this.dialog !== null) return { kind: 'dialog' };
    const own = toAnswer(bounds);
    const asked = await this.unlessDialog(this.#askWhole(name, args, own), own);
    if (asked === 'dialog') return { kind: 'dialog' };
    if (asked.value === null) return { kind: 'navigated' };
    this.title = asked.value.title;
    return { kind: 'answer', value: asked.value.value };
  }

  /** Asks once every shadow root is known, where it matters. */
  async #askWhole<N extends PageCallName>(name: N, args: PageCalls[N][0], bounds: Bounds) {
    if (!SEEING.has(name)) return this.#frameCalls.ask(name, args, bounds);
    // Until it is known which frames the page reaches, one of them may be asked twice.
    await this.frames.followed(bounds);
    if (this.#roots.mayHide) await this.#roots.seek(bounds);
    const answer = this.#frameCalls.ask(name, args, bounds);
    return args !== null && 'ms' in args ? this.#roots.seekDuring(answer, bounds) : answer;
  }

  /**
   * Settles as the work does, which keeps its own time; or as soon as a dialog opens, which holds the work back until
   * somebody closes it. Rejects when the tab has gone, and when the script is cancelled.
   */
  async unlessDialog<T>(work: Promise<T>, bounds: Bounds): Promise<{ readonly value: T } | 'dialog'> {
    const dialog = this.watch(() => this.dialog !== null, bounds);
    const done = work.then((value) => ({ value }));
    done.catch(() => undefined);
    const opened = async () => ((await dialog.settled) ? ('dialog' as const) : done);
    try {
      return await Promise.race([done, opened()]);
    } finally {
      dialog.stop();
    }
  }

  /** Asks until a document answers: whatever document stands there then. A dialog in the way is ACTION_FAILED. */
  async askAny<N extends PageCallName>(name: N, args: PageCalls[N][0], bounds: Bounds): Promise<PageCalls[N][1]> {
    for (;;) {
      const asked = await this.ask(name, args, bounds);
      if (asked.kind === 'answer') return asked.value;
      if (asked.kind === 'dialog') throw this.dialogError();
      if (remainingMs(bounds) <= 0) throw new TroupeError('WAIT_TIMEOUT', 'The page keeps navigating');
    }
  }

  dialogError(): TroupeError {
    const { kind, message } = this.dialog ?? { kind: 'dialog', message: '' };
    const text = `A dialog is open (${kind}: ${JSON.stringify(message.slice(0, 200))}): act on {dialog}OK`;
    return new TroupeError('ACTION_FAILED', kind === 'alert' ? text : `${text} or {dialog}Cancel`);
  }

  /** A command to the process that draws what the action under way is about. */
  sendToActing<M extends CdpMethod>(method: M, params: CdpParams<M>, timeoutMs?: number): Promise<CdpResult<M>> {
    const { session } = this.#frameCalls.acting;
    return this.#browser.send(method, params, timeoutMs === undefined ? { session } : { session, timeoutMs });
  }

  /** The protocol's name of the node that the action under way is about. */
  targetNode(bounds: Bounds): Promise<string | null> {
    return this.#frameCalls.acting.targetNode(bounds);
  }

  /** Takes in what happens to the page, and to the frames that other processes draw. */
  observe(event: CdpEvent): void {
    if (event.method === 'Runtime.bindingCalled' && event.params.name === OWN_DIALOG) this.ownDialogs++;
    this.network.observe(event);
    const worlds = this.frames.observe(event);
    this.#roots.observe(event);
    const isOwn = event.session === this.session || event.session === undefined;
    const moved = isOwn && this.navigation.observe(event);
    const own = isOwn ? this.#observeOwn(event) : this.#observeFrame(event);
    if (worlds || moved || own) this.#condition.changed();
  }

  /** What others noticed of it: a new title, a window that opened. */
  note(change: () => void): void {
    change();
    this.#condition.changed();
  }

  close(): void {
    this.state = 'closed';
    this.network.close();
    this.#condition.changed();
  }

  #observeOwn(event: CdpEvent): boolean {
    switch (event.method) {
      case 'Page.javascriptDialogOpening': {
        const { type, message, defaultPrompt, frameId } = event.params;
        const input = type === 'prompt' ? (defaultPrompt ?? '') : null;
        this.dialog = { kind: type, message, isOutermost: frameId === this.targetId, input };
        return true;
      }
      case 'Page.javascriptDialogClosed':
        this.dialog = null;
        return true;
      case 'Page.fileChooserOpened':
        return this.#observeFrame(event);
      case 'Input.dragIntercepted':
        this.drag = { data: event.params.data };
        return true;
      case 'Page.windowOpen':
        this.openingWindows++;
        return true;
      case 'Page.frameNavigated':
        // A page that crashed is loaded again by going somewhere.
        if (this.state === 'crashed') this.state = 'open';
        return true;
      case 'Inspector.targetCrashed':
        this.state = 'crashed';
        this.dialog = null;
        return true;
      default:
        return false;
    }
  }

  /** What a frame that another process draws tells of the page. */
  #observeFrame(event: CdpEvent): boolean {
    if (event.method !== 'Page.fileChooserOpened' || event.params.backendNodeId === undefined) return false;
    this.fileChooser = { node: event.params.backendNodeId, multiple: event.params.mode === 'selectMultiple' };
    return true;
  }

  /** None of these is waited for: a page held by a dialog answers some of them only later. */
  #prepare(): void {
    const give = <M extends CdpMethod>(method: M, params: CdpParams<M>): void => {
      this.send(method, params).catch(() => undefined);
    };
    give('Network.enable', BODY_BUFFERS);
    give('Emulation.setFocusEmulationEnabled', { enabled: true });
    this.send('Page.getFrameTree', {}).then(
      ({ frameTree }) =>
        this.note(() => {
          this.navigation.adopt(frameTree.frame);
          this.frames.adopt(frameTree, this.session);
        }),
      () => undefined,
    );
  }
}
