import { setMaxListeners } from 'node:events';
import { stretched } from '../../base/deadline.js';
import { DECLARED, REWRITTEN } from '../../page/page-calls.js';
import { type Bounds, remainingMs, throwIfCancelled, within } from '../browser/bounds.js';
import type { BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent, CdpNode } from '../browser/cdp.js';
import { Condition } from '../browser/condition.js';
import type { Frames } from '../tabs/frames.js';

/** A page that is held answers nobody. */
const SEEK_MS = stretched(1_500);
/** While something is waited for, it is sought for again after this. */
const AGAIN_MS = 250;
/** Closed roots of a process beyond this are not handed on. */
const MAX_ROOTS = 2_000;
/** Who seeks before anybody asks is not cancelled. As many listen as frames are sought through, in all sessions of a thread. */
const { signal: NEVER } = new AbortController();
setMaxListeners(0, NEVER);
/** What the browser's search finds every element by. */
const EVERY_ELEMENT = '<';

interface ClosedRoot {
  /** Of its document, where that is not the process's outermost. */
  readonly frame: string | null;
  readonly node: number;
}

/**
 * Sees to it that closed shadow roots which markup declares are known to the script of their document. The parser makes
 * them without a call that could be heard, and tells no script. So the browser counts the nodes of the documents and
 * their scripts count theirs, once in each document's life: where the browser has more, it is asked for its roots.
 */
export class DeclaredRoots {
  readonly #browser: BrowserPort;
  readonly #frames: Frames;
  readonly #mainFrame: string;
  /** CDP sessions with a document that was not sought through yet. */
  readonly #unsought: Set<string>;
  /** Those whose page has declared such roots: scripts may copy them without a sign, so it is asked each time. */
  readonly #declaring = new Set<string>();
  /** By CDP session: nodes that the browser has more, and that are in no closed root. */
  readonly #beyond = new Map<string, number>();
  readonly #ended = new Condition();
  #seeking = false;

  constructor(browser: BrowserPort, frames: Frames, mainFrame: string) {
    this.#browser = browser;
    this.#frames = frames;
    this.#mainFrame = mainFrame;
    this.#unsought = new Set([frames.main.session]);
  }

  /** Whether there may be roots that the page's script does not know. */
  get mayHide(): boolean {
    return this.#seeking || this.#unsought.size > 0 || this.#declaring.size > 0;
  }

  observe(event: CdpEvent): void {
    const session = event.session ?? '';
    switch (event.method) {
      case 'Target.attachedToTarget':
        if (event.params.targetInfo.type === 'iframe') this.#unsought.add(event.params.sessionId);
        return;
      case 'Target.detachedFromTarget':
        this.#forget(event.params.sessionId);
        this.#unsought.delete(event.params.sessionId);
        return;
      case 'Page.frameNavigated':
        if (event.params.frame.parentId === undefined) this.#forget(session);
        this.#unsought.add(session);
        return;
      case 'Page.lifecycleEvent':
        if (event.params.name !== 'DOMContentLoaded') return;
        this.#unsought.add(session);
        // Done by the time that somebody looks.
        if (event.params.frameId === this.#mainFrame) this.#seekAhead({ deadline: performance.now() + SEEK_MS });
        return;
      case 'Runtime.bindingCalled':
        if (event.params.name !== DECLARED && event.params.name !== REWRITTEN) return;
        this.#unsought.add(session);
        if (event.params.name === DECLARED) this.#declaring.add(session);
        return;
      default:
    }
  }

  /** Settles when each page's script knows what there is, as far as it answers in time. */
  async seek(bounds: Bounds): Promise<void> {
    if (!(await this.#ended.until(() => !this.#seeking, bounds))) return;
    const sessions = new Set([...this.#unsought, ...this.#declaring]);
    if (sessions.size === 0) return;
    this.#seeking = true;
    this.#unsought.clear();
    const own = within(bounds, SEEK_MS);
    await Promise.all([...sessions].map((session) => this.#seekIn(session, own)));
    this.#seeking = false;
    this.#ended.changed();
    throwIfCancelled(bounds);
  }

  /** Settles as the work does, and seeks meanwhile: what it waits for may come in such a root. */
  async seekDuring<T>(work: Promise<T>, bounds: Bounds): Promise<T> {
    const timer = setInterval(() => {
      if (this.mayHide) this.#seekAhead(bounds);
    }, AGAIN_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  #seekAhead({ deadline }: Pick<Bounds, 'deadline'>): void {
    void this.seek({ deadline, signal: NEVER });
  }

  /** The next document's are others. */
  #forget(session: string): void {
    this.#declaring.delete(session);
    this.#beyond.delete(session);
  }

  async #seekIn(session: string, bounds: Bounds): Promise<void> {
    try {
      const known = this.#beyond.get(session) ?? 0;
      // The page may change between the two counts.
      if ((await this.#countBeyond(session, bounds)) === known) return;
      if ((await this.#countBeyond(session, bounds)) === known) return;
      if (await this.#handRoots(session, bounds)) this.#declaring.add(session);
      this.#beyond.set(session, await this.#countBeyond(session, bounds));
    } catch {
      // A frame that hangs alone has no say; a page that does is asked again.
      if (session === this.#frames.main.session) this.#unsought.add(session);
    }
  }

  /** How many nodes the browser finds that no page's script knows of. */
  async #countBeyond(session: string, bounds: Bounds): Promise<number> {
    const options = { session, timeoutMs: Math.max(1, remainingMs(bounds)) };
    // All in one go, so that little can happen between; the search wants to be allowed, and is forgotten with that.
    const enabled = this.#browser.send('DOM.enable', {}, options);
    const found = this.#browser.send('DOM.performSearch', { query: EVERY_ELEMENT }, options);
    const counted = this.#frames.worldsIn(session).map((world) => world.tryCall('census', null, bounds));
    const disabled = this.#browser.send('DOM.disable', {}, options);
    const [{ resultCount }, counts] = await Promise.all([found, Promise.all(counted), enabled, disabled]);
    return counts.reduce((rest, answer) => rest - (answer?.value.nodes ?? 0), resultCount);
  }

  /** Hands the closed roots of a process's documents to their scripts. False where there are none. */
  async #handRoots(session: string, bounds: Bounds): Promise<boolean> {
    const options = { session, timeoutMs: Math.max(1, remainingMs(bounds)) };
    const { result } = await this.#browser.send('Runtime.evaluate', { expression: 'document' }, options);
    const { objectId } = result;
    if (objectId === undefined) return false;
    const everything = { objectId, depth: -1, pierce: true };
    const { node } = await this.#browser.send('DOM.describeNode', everything, options);
    this.#browser.send('Runtime.releaseObject', { objectId }, options).catch(() => undefined);
    const [outermost] = this.#frames.worldsIn(session);
    const roots = closedRoots(node);
    const handed = roots.map(async ({ frame, node: root }) => {
      const world = frame === null ? outermost : this.#frames.world(frame);
      // One that has gone meanwhile is no loss.
      await world?.adoptRoot(root, bounds).catch(() => undefined);
    });
    await Promise.all(handed);
    return roots.length > 0;
  }
}

/** Outer ones first. */
function closedRoots(document: CdpNode): ClosedRoot[] {
  const found: ClosedRoot[] = [];
  const left: { readonly node: CdpNode; readonly frame: string | null }[] = [{ node: document, frame: null }];
  for (let next = left.pop(); next !== undefined && found.length < MAX_ROOTS; next = left.pop()) {
    const { node, frame } = next;
    for (const root of node.shadowRoots ?? []) {
      if (root.shadowRootType === 'closed') found.push({ frame, node: root.backendNodeId });
      if (root.shadowRootType !== 'user-agent') left.push({ node: root, frame });
    }
    for (const child of node.children ?? []) left.push({ node: child, frame });
    if (node.contentDocument !== undefined) left.push({ node: node.contentDocument, frame: node.frameId ?? frame });
  }
  return found;
}
