import { WORLD } from '../../page/page-calls.js';
import type { Bounds } from '../browser/bounds.js';
import type { AttachedPage, BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent } from '../browser/cdp.js';
import { PageWorld } from './page-world.js';

/** Worlds beyond this are not kept. */
const MAX_WORLDS = 2_000;

/**
 * The worlds of a page and of its frames. A frame that moves to another process has a world in each for a moment, and
 * what the two tell of it comes in any order.
 */
export class FrameWorlds {
  readonly main: PageWorld;
  readonly #browser: BrowserPort;
  readonly #page: AttachedPage;
  readonly #until: (holds: () => boolean, bounds: Bounds) => Promise<boolean>;
  readonly #worlds = new Map<string, PageWorld>();

  /** @param until waits on what {@link FrameWorlds.observe} changes */
  constructor(
    browser: BrowserPort,
    page: AttachedPage,
    until: (holds: () => boolean, bounds: Bounds) => Promise<boolean>,
  ) {
    this.#browser = browser;
    this.#page = page;
    this.#until = until;
    // A page target's id is its main frame's.
    this.main = new PageWorld(browser, page.session, page.targetId, until);
  }

  /** @param session of the process that draws the frame */
  of(frame: string, session: string): PageWorld | undefined {
    return frame === this.#page.targetId ? this.main : this.#worlds.get(keyOf(frame, session));
  }

  /** True when a world has come or gone. */
  observe(event: CdpEvent, session: string): boolean {
    if (event.method === 'Runtime.executionContextCreated') {
      const { name, auxData } = event.params.context;
      const frame = auxData?.frameId;
      const known = frame === undefined || this.of(frame, session) !== undefined;
      if (name === WORLD && !known && this.#worlds.size < MAX_WORLDS) {
        this.#worlds.set(keyOf(frame, session), new PageWorld(this.#browser, session, frame, this.#until));
      }
    }
    let changed = session === this.#page.session && this.main.observe(event);
    for (const world of this.#worlds.values()) if (world.session === session && world.observe(event)) changed = true;
    return changed;
  }

  /** The frame has gone, or at least from this process. */
  drop(frame: string, session: string): void {
    this.#worlds.delete(keyOf(frame, session));
  }

  /** The process has gone. */
  dropAll(session: string): void {
    for (const [key, world] of this.#worlds) if (world.session === session) this.#worlds.delete(key);
  }
}

function keyOf(frame: string, session: string): string {
  return `${session} ${frame}`;
}
