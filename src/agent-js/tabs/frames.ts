import { stretched } from '../../base/deadline.js';
import { DECLARED, OWN_DIALOG, type PageCallName, type PageCalls, REWRITTEN, WORLD } from '../../page/page-calls.js';
import { type Bounds, throwIfCancelled, within } from '../browser/bounds.js';
import type { AttachedPage, BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent, CdpFrame, CdpFrameTree, CdpMethod, CdpParams, CdpTargetFilter } from '../browser/cdp.js';
import type { Watch } from '../browser/condition.js';
import { BODY_BUFFERS } from '../network/network-activity.js';
import { FrameWorlds } from './frame-worlds.js';
import { HOOKS_SOURCE, type PageWorld, WORLD_SOURCE } from './page-world.js';

/** Frames of a page beyond this are not followed. */
const MAX_FRAMES = 1_000;
/** A frame that does not answer by then has no say; and by then, as long as its process has not answered since. */
const FRAME_MS = stretched(1_500);
const SILENT_MS = stretched(100);
/** A process that was given a frame to draw says so before it can be asked; on a busy machine by so much. */
const FOLLOWED_MS = stretched(500);
/**
 * Only frames are followed. Chromium pauses a dedicated worker at its start even if the filter leaves it out, and then no
 * one can resume it; so workers are let in, resumed, and let go.
 */
const FRAMES_AND_WORKERS: CdpTargetFilter = [
  { type: 'iframe', exclude: false },
  { type: 'worker', exclude: false },
  { exclude: true },
];
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
  readonly #browser: BrowserPort;
  readonly #page: AttachedPage;
  readonly #watch: (holds: () => boolean, bounds: Bounds) => Watch;
  readonly #until: (holds: () => boolean, bounds: Bounds) => Promise<boolean>;
  readonly #frames = new Map<string, Frame>();
  readonly #worlds: FrameWorlds;
  readonly #sessions: Set<string>;
  /** Frames with a process of their own, and its session. It draws them, whatever another has said: that may come late. */
  readonly #own = new Map<string, string>();
  /** Frames that did not answer, and whose processes have not since. */
  readonly #silent = new Set<string>();
  /** Of frames whose origin the protocol does not tell: whether their parents' scripts reach them. */
  readonly #reached = new Map<string, boolean>();
  /** Frames in processes of their own that may have no world yet. */
  readonly #coming = new Set<string>();
  /** What follows from all these; undefined since one of them has changed. */
  #apart: readonly string[] | undefined;
  #vague: readonly Frame[] | undefined;

  /** @param watch waits on what {@link Frames.observe} changes */
  constructor(browser: BrowserPort, page: AttachedPage, watch: (holds: () => boolean, bounds: Bounds) => Watch) {
    this.#browser = browser;
    this.#page = page;
    this.#watch = watch;
    this.#until = (holds, bounds) => watch(holds, bounds).settled;
    this.#sessions = new Set([page.session]);
    this.#worlds = new FrameWorlds(browser, page, this.#until);
    this.#follow(page.session);
  }

  /** The world of the page's own document. */
  get main(): PageWorld {
    return this.#worlds.main;
  }

  /** Whether a CDP session belongs to a frame of this page, or to the page itself. */
  has(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** The frames that nothing but their own world reaches. */
  get apart(): readonly string[] {
    this.#apart ??= [...this.#frames.values()].filter((frame) => this.#isApart(frame)).map(({ id }) => id);
    return this.#apart;
  }

  /** The world that stands in a frame; the main one for the page's own. */
  world(frame: string | null): PageWorld | undefined {
    if (frame === null || frame === this.#page.targetId) return this.main;
    const session = this.#frames.get(frame)?.session;
    return session === undefined ? undefined : this.#worlds.of(frame, session);
  }

  /** The worlds that reach, together and each by itself, every document that a process draws; its outermost first. */
  worldsIn(session: string): readonly PageWorld[] {
    const worlds = [this.main, ...this.apart.flatMap((frame) => this.world(frame) ?? [])];
    return worlds.filter((world) => world.session === session);
  }

  parentOf(frame: string): string | null {
    return this.#frames.get(frame)?.parentId ?? null;
  }

  /**
   * One call in a frame that is apart. Null where it does not answer: it may hang alone, and is then given less time, until
   * its process answers again.
   */
  async ask<N extends PageCallName>(
    frame: string,
    name: N,
    args: PageCalls[N][0],
    bounds: Bounds,
  ): Promise<PageCalls[N][1] | null> {
    const own = within(bounds, this.#silent.has(frame) ? SILENT_MS : FRAME_MS);
    const world = this.world(frame);
    try {
      return (await world?.tryCall(name, args, own))?.value ?? null;
    } catch {
      throwIfCancelled(bounds);
      if (world !== undefined) this.#listenFor(frame, world.session);
      return null;
    }
  }

  /** A frame is silent until its process says something, or has had its time to: then it is tried anew. */
  #listenFor(frame: string, session: string): void {
    if (this.#silent.has(frame)) return;
    this.#silent.add(frame);
    const heard = () => void this.#silent.delete(frame);
    this.#browser.send('Runtime.evaluate', { expression: '0' }, { session }).then(heard, heard);
  }

  /** True as soon as there is a frame that is apart; `stop` loses interest. */
  untilApart(bounds: Bounds): Watch {
    return this.#watch(() => this.apart.length > 0, bounds);
  }

  /** True as soon as the process that draws a frame draws it no more: what it was asked may stay without an answer. */
  untilGone(frame: string, session: string, bounds: Bounds): Watch {
    return this.#watch(() => this.world(frame)?.session !== session, bounds);
  }

  /** Settles when each frame that is known can be asked, or has not become so in time: then it is not waited for again. */
  async followed(bounds: Bounds): Promise<void> {
    if (this.#coming.size > 0) {
      const there = () => [...this.#coming].every((frame) => this.world(frame) !== undefined);
      await this.#until(there, within(bounds, FOLLOWED_MS)).catch(() => undefined);
      throwIfCancelled(bounds);
      this.#coming.clear();
    }
    this.#vague ??= [...this.#frames.values()].filter((frame) => this.#isVague(frame));
    if (this.#vague.length > 0) await Promise.all(this.#vague.map((frame) => this.#askReached(frame, bounds)));
  }

  /** A frame that is written into its parent's document is told without an origin, whether it is sandboxed or not. */
  #isVague({ id, parentId, session, origin }: Frame): boolean {
    if (this.#reached.has(id)) return false;
    const parent = parentId === null ? undefined : this.#frames.get(parentId);
    return parent?.session === session && origin !== undefined && OPAQUE.test(origin) && this.world(id) !== undefined;
  }

  async #askReached(frame: Frame, bounds: Bounds): Promise<void> {
    const answer = await this.ask(frame.id, 'reached', null, bounds);
    // It may be another document's by now.
    if (answer === null || this.#frames.get(frame.id) !== frame) return;
    this.#reached.set(frame.id, answer.reached);
    this.#changed();
  }

  #changed(): void {
    this.#apart = undefined;
    this.#vague = undefined;
  }

  /** Adopts what stood there before this followed it. */
  adopt({ frame, childFrames = [] }: CdpFrameTree, session: string): void {
    this.#changed();
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
    this.#changed();
    switch (event.method) {
      case 'Target.attachedToTarget': {
        const { sessionId, targetInfo, waitingForDebugger } = event.params;
        if (targetInfo.type === 'worker') this.#releaseWorker(sessionId, session);
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
        this.#worlds.drop(event.params.frameId, session);
        // One that goes to another process is attached there.
        if (event.params.reason === 'swap') return false;
        this.#remove(event.params.frameId);
        return true;
      default:
        return this.#worlds.observe(event, session);
    }
  }

  #isApart({ id, parentId, session, origin }: Frame): boolean {
    const parent = parentId === null ? undefined : this.#frames.get(parentId);
    if (parent === undefined || this.world(id) === undefined) return false;
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

  #put(frame: Pick<CdpFrame, 'id' | 'parentId'> & { readonly securityOrigin?: string }, session: string): void {
    const known = this.#frames.get(frame.id);
    if (known === undefined && this.#frames.size >= MAX_FRAMES) return;
    this.#reached.delete(frame.id);
    this.#frames.set(frame.id, {
      id: frame.id,
      // The root of a process of its own is not told what is around it.
      parentId: frame.parentId ?? known?.parentId ?? null,
      session: this.#own.get(frame.id) ?? session,
      origin: frame.securityOrigin ?? known?.origin,
    });
  }

  #remove(id: string): void {
    const known = this.#frames.get(id);
    if (known !== undefined) this.#worlds.drop(id, known.session);
    this.#frames.delete(id);
    this.#silent.delete(id);
    this.#reached.delete(id);
    this.#coming.delete(id);
    this.#removeInside(id);
  }

  #removeInside(id: string): void {
    for (const frame of [...this.#frames.values()]) if (frame.parentId === id) this.#remove(frame.id);
  }

  #attached(session: string, frame: string, waiting: boolean): void {
    if (this.#sessions.size >= MAX_FRAMES) return;
    this.#sessions.add(session);
    this.#own.set(frame, session);
    this.#put({ id: frame }, session);
    this.#coming.add(frame);
    this.#follow(session);
    if (waiting) this.#give(session, 'Runtime.runIfWaitingForDebugger', {});
  }

  /** Resumes a worker and detaches from it. */
  #releaseWorker(worker: string, parent: string): void {
    this.#give(worker, 'Runtime.runIfWaitingForDebugger', {});
    this.#give(parent, 'Target.detachFromTarget', { sessionId: worker });
  }

  #detached(session: string): boolean {
    if (session === this.#page.session || !this.#sessions.delete(session)) return false;
    for (const [frame, own] of this.#own) {
      if (own !== session) continue;
      this.#own.delete(frame);
      const around = this.#frames.get(this.parentOf(frame) ?? '');
      // It may have gone back to its parent's process, which may have said so before.
      if (around !== undefined) this.#askTree(around.session);
    }
    for (const frame of [...this.#frames.values()]) if (frame.session === session) this.#remove(frame.id);
    this.#worlds.dropAll(session);
    return true;
  }

  #askTree(session: string): void {
    this.#browser.send('Page.getFrameTree', {}, { session }).then(
      ({ frameTree }) => this.adopt(frameTree, session),
      () => undefined,
    );
  }

  /** None of these is waited for: a page held by a dialog answers some of them only later. */
  #follow(session: string): void {
    this.#give(session, 'Page.enable', {});
    this.#give(session, 'Page.setLifecycleEventsEnabled', { enabled: true });
    const source = { source: WORLD_SOURCE, worldName: WORLD, runImmediately: true };
    this.#give(session, 'Page.addScriptToEvaluateOnNewDocument', source);
    this.#give(session, 'Page.addScriptToEvaluateOnNewDocument', { source: HOOKS_SOURCE, runImmediately: true });
    for (const name of [OWN_DIALOG, DECLARED, REWRITTEN])
      this.#give(session, 'Runtime.addBinding', { name, executionContextName: WORLD });
    this.#give(session, 'Runtime.enable', {});
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: FRAMES_AND_WORKERS };
    this.#give(session, 'Target.setAutoAttach', attach);
    if (session === this.#page.session) return;
    this.#give(session, 'Network.enable', BODY_BUFFERS);
    this.#askTree(session);
  }

  #give<M extends CdpMethod>(session: string, method: M, params: CdpParams<M>): void {
    this.#browser.send(method, params, { session }).catch(() => undefined);
  }
}
