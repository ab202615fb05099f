import { type Bounds, throwIfCancelled, within } from './bounds.js';
import type { AttachedPage, BrowserPort } from './browser-port.js';
import type { CdpEvent, CdpFrame, CdpFrameTree, CdpMethod, CdpParams } from './cdp.js';
import type { Watch } from './condition.js';
import { DECLARED, OWN_DIALOG, type PageCallName, type PageCalls, WORLD } from './page-calls.js';
import { HOOKS_SOURCE, PageWorld, WORLD_SOURCE } from './page-world.js';

/** Frames of a page beyond this are not followed. */
const MAX_FRAMES = 1_000;
/** A frame that does not answer by then has no say; and the next time by then. */
const FRAME_MS = 1_500;
const SILENT_MS = 100;
/** A process that was given a frame to draw says so before it can be asked; on a busy machine by so much. */
const FOLLOWED_MS = 500;
/** Only frames: workers of a page are no place where anybody looks. */
const FRAMES_ALONE = [{ type: 'iframe', exclude: false }, { exclude: true }] as const;
/** What the protocol calls the origin of a document that has none. */
const OPAQUE = /^(null|:\/\/)$/;

interface Frame {
  readonly id: string;
  readonly parentId: string | null;
  /** Of the process that draws it. */
  readonly session: string;
  /** Undefined: its parent's, as of a new frame. */
  readonly origin: string | undefined;
}

/**
 * The frames of a page, across the processes that draw them. A frame whose document its parent's scripts cannot reach
 * has a world of its own to be asked; the others are reached through the document around them.
 */
export class Frames {
  readonly main: PageWorld;
  readonly #browser: BrowserPort;
  readonly #page: AttachedPage;
  readonly #watch: (holds: () => boolean, bounds: Bounds) => Watch;
  readonly #until: (holds: () => boolean, bounds: Bounds) => Promise<boolean>;
  readonly #frames = new Map<string, Frame>();
  readonly #worlds = new Map<string, PageWorld>();
  readonly #sessions: Set<string>;
  /** Frames that did not answer the last time. */
  readonly #silent = new Set<string>();
  /** Of frames whose origin the protocol does not tell: whether their parents' scripts reach them. */
  readonly #reached = new Map<string, boolean>();
  /** Frames in processes of their own that have no world yet. */
  readonly #coming = new Set<string>();

  /** @param watch waits on what {@link Frames.observe} changes */
  constructor(browser: BrowserPort, page: AttachedPage, watch: (holds: () => boolean, bounds: Bounds) => Watch) {
    this.#browser = browser;
    this.#page = page;
    this.#watch = watch;
    this.#until = (holds, bounds) => watch(holds, bounds).settled;
    this.#sessions = new Set([page.session]);
    // A page target's id is its main frame's.
    this.main = new PageWorld(browser, page.session, page.targetId, this.#until);
    this.#follow(page.session);
  }

  /** Whether a CDP session belongs to a frame of this page, or to the page itself. */
  has(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** The frames that nothing but their own world reaches. */
  get apart(): readonly string[] {
    const apart: string[] = [];
    for (const frame of this.#frames.values()) if (this.#isApart(frame)) apart.push(frame.id);
    return apart;
  }

  /** The world that stands in a frame; the main one for the page's own. */
  world(frame: string | null): PageWorld | undefined {
    return frame === null || frame === this.#page.targetId ? this.main : this.#worlds.get(frame);
  }

  /** The worlds that reach, together and each by itself, every document that a process draws; its outermost first. */
  worldsIn(session: string): readonly PageWorld[] {
    const worlds = [this.main, ...this.apart.flatMap((frame) => this.#worlds.get(frame) ?? [])];
    return worlds.filter((world) => world.session === session);
  }

  parentOf(frame: string): string | null {
    return this.#frames.get(frame)?.parentId ?? null;
  }

  /**
   * One call in a frame that is apart. Null where it does not answer: it may hang alone, and is then given less time, until
   * it answers again.
   */
  async ask<N extends PageCallName>(
    frame: string,
    name: N,
    args: PageCalls[N][0],
    bounds: Bounds,
  ): Promise<PageCalls[N][1] | null> {
    const own = within(bounds, this.#silent.has(frame) ? SILENT_MS : FRAME_MS);
    try {
      const answer = await this.#worlds.get(frame)?.tryCall(name, args, own);
      this.#silent.delete(frame);
      return answer?.value ?? null;
    } catch {
      throwIfCancelled(bounds);
      this.#silent.add(frame);
      return null;
    }
  }

  /** True as soon as there is a frame that is apart; `stop` loses interest. */
  untilApart(bounds: Bounds): Watch {
    return this.#watch(() => this.apart.length > 0, bounds);
  }

  /** Settles when each frame that is known can be asked, or has not become so in time: then it is not waited for again. */
  async followed(bounds: Bounds): Promise<void> {
    if (this.#coming.size > 0) {
      await this.#until(() => this.#coming.size === 0, within(bounds, FOLLOWED_MS)).catch(() => undefined);
      throwIfCancelled(bounds);
      this.#coming.clear();
    }
    const unknown = [...this.#frames.values()].filter((frame) => !this.#reached.has(frame.id) && this.#isVague(frame));
    if (unknown.length > 0) await Promise.all(unknown.map((frame) => this.#askReached(frame, bounds)));
  }

  /** A frame that is written into its parent's document is told without an origin, whether it is sandboxed or not. */
  #isVague({ id, parentId, session, origin }: Frame): boolean {
    const parent = parentId === null ? undefined : this.#frames.get(parentId);
    return parent?.session === session && origin !== undefined && OPAQUE.test(origin) && this.#worlds.has(id);
  }

  async #askReached(frame: Frame, bounds: Bounds): Promise<void> {
    const answer = await this.ask(frame.id, 'reached', null, bounds);
    // It may be another document's by now.
    if (answer !== null && this.#frames.get(frame.id) === frame) this.#reached.set(frame.id, answer.reached);
  }

  /** Adopts what stood there before this followed it. */
  adopt({ frame, childFrames = [] }: CdpFrameTree, session: string): void {
    this.#put(frame, session);
    for (const child of childFrames) this.adopt(child, session);
  }

  /** Lets each parent's world know its frames by name. Costs three commands a frame, once in its life. */
  async nameFrames(bounds: Bounds): Promise<void> {
    const naming = this.apart.map(async (id) => {
      const parent = this.world(this.parentOf(id));
      await parent?.nameFrame(id, bounds).catch(() => undefined);
    });
    await Promise.all(naming);
  }

  /** True when a frame or a world has come or gone. */
  observe(event: CdpEvent): boolean {
    const session = event.session ?? '';
    switch (event.method) {
      case 'Target.attachedToTarget': {
        const { sessionId, targetInfo, waitingForDebugger } = event.params;
        if (targetInfo.type !== 'iframe') return false;
        this.#attached(sessionId, targetInfo.targetId, waitingForDebugger);
        return true;
      }
      case 'Target.detachedFromTarget':
        return this.#detached(event.params.sessionId);
      case 'Page.frameAttached': {
        const { frameId, parentFrameId } = event.params;
        this.#put({ id: frameId, parentId: parentFrameId }, session);
        return true;
      }
      case 'Page.frameNavigated':
        // The frames of the document before went with it, without a word about each.
        this.#removeInside(event.params.frame.id);
        this.#put(event.params.frame, session);
        return true;
      case 'Page.frameDetached':
        // One that goes to another process is attached there.
        if (event.params.reason === 'swap') return false;
        this.#remove(event.params.frameId);
        return true;
      default:
        return this.#observeWorlds(event, session);
    }
  }

  #observeWorlds(event: CdpEvent, session: string): boolean {
    if (event.method === 'Runtime.executionContextCreated') {
      const { name, auxData } = event.params.context;
      const frame = auxData?.frameId;
      if (name === WORLD && frame !== undefined && frame !== this.#page.targetId) {
        this.#coming.delete(frame);
        const known = this.#worlds.get(frame);
        if (known?.session !== session && this.#worlds.size < MAX_FRAMES) {
          this.#worlds.set(frame, new PageWorld(this.#browser, session, frame, this.#until));
        }
      }
    }
    let changed = session === this.#page.session && this.main.observe(event);
    for (const world of this.#worlds.values()) if (world.session === session && world.observe(event)) changed = true;
    return changed;
  }

  #isApart({ id, parentId, session, origin }: Frame): boolean {
    const parent = parentId === null ? undefined : this.#frames.get(parentId);
    if (parent === undefined || !this.#worlds.has(id)) return false;
    if (session !== parent.session) return true;
    if (origin === undefined || this.#reached.get(id) === true) return false;
    const around = this.#originOf(parent);
    return origin !== around || (OPAQUE.test(origin) && parent.parentId !== null);
  }

  #originOf(frame: Frame): string | undefined {
    for (let at: Frame | undefined = frame; at !== undefined; ) {
      if (at.origin !== undefined) return at.origin;
      at = at.parentId === null ? undefined : this.#frames.get(at.parentId);
    }
    return undefined;
  }

  #put(frame: Pick<CdpFrame, 'id' | 'parentId' | 'securityOrigin'>, session: string): void {
    const known = this.#frames.get(frame.id);
    if (known === undefined && this.#frames.size >= MAX_FRAMES) return;
    this.#reached.delete(frame.id);
    this.#frames.set(frame.id, {
      id: frame.id,
      // The root of a process of its own is not told what is around it.
      parentId: frame.parentId ?? known?.parentId ?? null,
      session,
      origin: frame.securityOrigin ?? known?.origin,
    });
  }

  #remove(id: string): void {
    this.#frames.delete(id);
    this.#silent.delete(id);
    this.#reached.delete(id);
    this.#coming.delete(id);
    this.#worlds.delete(id);
    this.#removeInside(id);
  }

  #removeInside(id: string): void {
    for (const frame of [...this.#frames.values()]) if (frame.parentId === id) this.#remove(frame.id);
  }

  #attached(session: string, frame: string, waiting: boolean): void {
    if (this.#sessions.size >= MAX_FRAMES) return;
    this.#sessions.add(session);
    this.#put({ id: frame }, session);
    if (this.#worlds.get(frame)?.session !== session) this.#coming.add(frame);
    this.#follow(session);
    if (waiting) this.#give(session, 'Runtime.runIfWaitingForDebugger', {});
  }

  #detached(session: string): boolean {
    if (session === this.#page.session || !this.#sessions.delete(session)) return false;
    for (const frame of [...this.#frames.values()]) if (frame.session === session) this.#remove(frame.id);
    return true;
  }

  /** None of these is waited for: a page held by a dialog answers some of them only later. */
  #follow(session: string): void {
    this.#give(session, 'Page.enable', {});
    this.#give(session, 'Page.setLifecycleEventsEnabled', { enabled: true });
    const source = { source: WORLD_SOURCE, worldName: WORLD, runImmediately: true };
    this.#give(session, 'Page.addScriptToEvaluateOnNewDocument', source);
    this.#give(session, 'Page.addScriptToEvaluateOnNewDocument', { source: HOOKS_SOURCE, runImmediately: true });
    for (const name of [OWN_DIALOG, DECLARED])
      this.#give(session, 'Runtime.addBinding', { name, executionContextName: WORLD });
    this.#give(session, 'Runtime.enable', {});
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: FRAMES_ALONE };
    this.#give(session, 'Target.setAutoAttach', attach);
    if (session === this.#page.session) return;
    this.#give(session, 'Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 });
    this.#browser.send('Page.getFrameTree', {}, { session }).then(
      ({ frameTree }) => this.adopt(frameTree, session),
      () => undefined,
    );
  }

  #give<M extends CdpMethod>(session: string, method: M, params: CdpParams<M>): void {
    this.#browser.send(method, params, { session }).catch(() => undefined);
  }
}
