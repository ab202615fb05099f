import type { SeenPart } from '../../page/page-calls.js';
import type { PageSize } from '../browser/browser-port.js';
import type { Tab } from '../tabs/tab.js';
import type { Screencast } from './screencast.js';
import { captureScreenshot } from './screenshots.js';

/** Large enough to read what a page says, and less than half of what the whole size costs. */
const SCALE = 0.5;
/** The longest wait for two frames, in milliseconds. */
const FRAMES_MS = 100;
/** The width of a scroll bar, and what rounding makes of a page that is zoomed. */
const SCROLL_BAR = 20;

/**
 * Screenshots at half the page's size. Chromium makes the view smaller for one. The page does not notice, but whoever
 * watches the view does; and afterwards the view has the size that this connection has set. So the picture is as large as
 * the page while somebody watches, where another connection has set its own size, and once pictures are compared.
 */
export class SmallScreenshots {
  readonly #cast: Screencast;
  readonly #size: () => PageSize;
  #keepsView = false;
  /** A small picture was taken. */
  #wasSmall = false;

  /** @param size what this connection has set */
  constructor(cast: Screencast, size: () => PageSize) {
    this.#cast = cast;
    this.#size = size;
  }

  /** From now on the view stays as it is, and pictures are as large as the page. */
  keepView(): void {
    this.#keepsView = true;
  }

  /**
   * The same, before pictures that are compared: what is drawn right after a small one can still differ in a few pixels. Returns
   * when the page has been drawn in its own size.
   */
  async keepViewDrawn(tab: Tab, timeoutMs: number): Promise<void> {
    this.#keepsView = true;
    if (!this.#wasSmall) return;
    this.#wasSmall = false;
    const bounds = { deadline: performance.now() + timeoutMs, signal: NEVER };
    await captureScreenshot(tab, timeoutMs);
    await tab.ask('settle', { ms: FRAMES_MS, painted: true }, bounds).catch(() => null);
    await captureScreenshot(tab, timeoutMs);
  }

  /** A PNG of what the tab shows now. Null where there is none to be had: a dialog holds the page, or it hangs. */
  async capture(tab: Tab, timeoutMs: number): Promise<Buffer | null> {
    if (this.#keepsView || this.#cast.isRunning) return captureScreenshot(tab, timeoutMs);
    if (tab.dialog !== null || tab.state !== 'open') return null;
    const deadline = performance.now() + timeoutMs;
    const asked = await tab.ask('seen', null, { deadline, signal: NEVER }).catch(() => null);
    const leftMs = deadline - performance.now();
    if (leftMs < 1) return null;
    const size = this.#size();
    if (asked?.kind !== 'answer' || !isSize(asked.value, size)) return captureScreenshot(tab, leftMs);
    this.#wasSmall = true;
    return captureScreenshot(tab, leftMs, asked.value, asked.value.zoom * SCALE);
  }
}

const NEVER = new AbortController().signal;

function isSize({ width, height, zoom, deviceScaleFactor }: SeenPart, size: PageSize): boolean {
  const isOf = (length: number, whole: number) => length <= whole + 1 && length >= whole - SCROLL_BAR;
  return (
    isOf(width * zoom, size.width) && isOf(height * zoom, size.height) && deviceScaleFactor === size.deviceScaleFactor
  );
}
