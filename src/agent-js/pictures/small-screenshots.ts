import type { PageSize } from '../browser/browser-port.js';
import type { CdpResult } from '../browser/cdp.js';
import type { Box } from '../tabs/page-calls.js';
import type { Tab } from '../tabs/tab.js';
import type { Screencast } from './screencast.js';
import { captureScreenshot } from './screenshots.js';

/** Large enough to read what a page says, and less than half of what the whole size costs. */
const SCALE = 0.5;
/** The width of a scroll bar, and what rounding makes of a page that is zoomed. */
const SCROLL_BAR = 20;

/**
 * Screenshots at half the page's size. Chromium makes the view smaller for one, which the page does not notice; who sees
 * the view does, so the frames of the screencast are left out meanwhile. Afterwards the view has the size that this
 * connection has set: where another one has set its own, the picture is taken as large as the page.
 */
export class SmallScreenshots {
  readonly #cast: Screencast;
  readonly #size: () => PageSize | null;

  /** @param size what this connection has set; null: the view is not to be made smaller */
  constructor(cast: Screencast, size: () => PageSize | null) {
    this.#cast = cast;
    this.#size = size;
  }

  /** A PNG of what the tab shows now. Null where there is none to be had: a dialog holds the page, or it hangs. */
  async capture(tab: Tab, timeoutMs: number): Promise<Buffer | null> {
    const size = this.#size();
    if (size === null) return captureScreenshot(tab, timeoutMs);
    if (tab.dialog !== null || tab.state !== 'open') return null;
    const end = performance.now() + timeoutMs;
    const metrics = await tab.send('Page.getLayoutMetrics', {}, timeoutMs).catch(() => null);
    const leftMs = end - performance.now();
    if (metrics === null || leftMs < 1) return null;
    if (!isSize(metrics, size)) return captureScreenshot(tab, leftMs);
    const again = this.#cast.leaveOut(size.width);
    try {
      return await captureScreenshot(tab, leftMs, shownPart(metrics), metrics.cssVisualViewport.scale * SCALE);
    } finally {
      again();
    }
  }
}

type LayoutMetrics = CdpResult<'Page.getLayoutMetrics'>;

function isSize({ layoutViewport, cssLayoutViewport, cssVisualViewport }: LayoutMetrics, size: PageSize): boolean {
  const { clientWidth, clientHeight, scale } = cssVisualViewport;
  const isOf = (length: number, whole: number) => length <= whole + 1 && length >= whole - SCROLL_BAR;
  const factor = layoutViewport.clientWidth / cssLayoutViewport.clientWidth;
  return (
    isOf(clientWidth * scale, size.width) &&
    isOf(clientHeight * scale, size.height) &&
    Math.abs(factor - size.deviceScaleFactor) < 0.05
  );
}

/** In CSS pixels of the document. */
function shownPart({ cssVisualViewport: { pageX, pageY, clientWidth, clientHeight } }: LayoutMetrics): Box {
  return { left: pageX, top: pageY, width: clientWidth, height: clientHeight };
}
