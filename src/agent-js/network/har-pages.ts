import type { CdpEvent } from '../browser/cdp.js';

/** Frames whose parents are remembered. */
const MAX_FRAMES = 5_000;
/** Documents of a session; later ones are not pages of its archive. */
const MAX_PAGES = 5_000;
const MAX_TITLE = 4_000;

/** A page of an HTTP archive: a document in a tab, and when it was ready, in milliseconds from its start; -1 if it was not. */
export interface HarPage {
  readonly id: string;
  readonly startedDateTime: string;
  /** The address: titles come too late. */
  readonly title: string;
  readonly pageTimings: { readonly onContentLoad: number; readonly onLoad: number };
}

/** The documents of a session's tabs, and which requests belong to them. */
export class HarPages {
  readonly #parents = new Map<string, string>();
  /** The newest document of each tab, by its main frame. */
  readonly #current = new Map<string, { page: HarPage; readonly loader: string; readonly startedAt: number }>();
  #count = 0;

  /** Takes in an event. @returns a page that has begun or got a time */
  observe(event: CdpEvent): HarPage | null {
    switch (event.method) {
      case 'Page.frameAttached':
        if (this.#parents.size < MAX_FRAMES) this.#parents.set(event.params.frameId, event.params.parentFrameId);
        return null;
      case 'Page.frameDetached':
        if (event.params.reason === 'remove') this.#parents.delete(event.params.frameId);
        return null;
      case 'Network.requestWillBeSent':
        return this.#begin(event.params);
      case 'Page.lifecycleEvent':
        return this.#timed(event.params);
      default:
        return null;
    }
  }

  /** The id of the page that a frame belongs to now. */
  pageOf(frame: string | undefined): string | null {
    return frame === undefined ? null : (this.#current.get(this.#topOf(frame))?.page.id ?? null);
  }

  #begin({
    requestId,
    loaderId,
    frameId,
    type,
    request,
    wallTime,
    timestamp,
  }: (CdpEvent & { method: 'Network.requestWillBeSent' })['params']): HarPage | null {
    if (type !== 'Document' || requestId !== loaderId || frameId === undefined || this.#parents.has(frameId))
      return null;
    // A redirect is the same page.
    if (this.#current.get(frameId)?.loader === loaderId || this.#count >= MAX_PAGES) return null;
    this.#count += 1;
    const page: HarPage = {
      id: `page_${loaderId}`,
      startedDateTime: new Date(wallTime * 1000).toISOString(),
      title: request.url.slice(0, MAX_TITLE),
      pageTimings: { onContentLoad: -1, onLoad: -1 },
    };
    this.#current.set(frameId, { page, loader: loaderId, startedAt: timestamp });
    return page;
  }

  #timed({
    frameId,
    loaderId,
    name,
    timestamp,
  }: (CdpEvent & { method: 'Page.lifecycleEvent' })['params']): HarPage | null {
    const current = this.#current.get(frameId);
    if (current?.loader !== loaderId || (name !== 'DOMContentLoaded' && name !== 'load')) return null;
    const ms = Math.max(0, Math.round((timestamp - current.startedAt) * 10_000) / 10);
    const { pageTimings } = current.page;
    const timings = name === 'load' ? { ...pageTimings, onLoad: ms } : { ...pageTimings, onContentLoad: ms };
    current.page = { ...current.page, pageTimings: timings };
    return name === 'load' ? current.page : null;
  }

  #topOf(frame: string): string {
    let top = frame;
    for (let parent = this.#parents.get(top); parent !== undefined; parent = this.#parents.get(top)) top = parent;
    return top;
  }
}
