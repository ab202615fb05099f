import type { PaintMark as Mark } from '../tabs/page-calls.js';

/** What covers everything else, and so the mark. */
const ABOVE_ALL = ':modal, :popover-open, :fullscreen';

/**
 * A mark in the corner of the page that says in its pixels after which step they were painted. It is a style of the
 * document's own element and no element: the page's nodes stay as they are, and no observer is called.
 */
export class PaintMark {
  #sheet: CSSStyleSheet | null = null;

  /** Shows it, and settles when what the page shows now was handed to the compositor with it. False where it cannot be. */
  async painted(mark: Mark): Promise<boolean> {
    if (!this.#show(mark)) {
      this.hide();
      return false;
    }
    await new Promise((resolve) => requestAnimationFrame(resolve));
    // The frame is painted when its callbacks have run, before the next task.
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });
    return this.#sheet !== null && document.adoptedStyleSheets.includes(this.#sheet);
  }

  hide(): void {
    const sheet = this.#sheet;
    this.#sheet = null;
    if (sheet === null) return;
    const { adoptedStyleSheets } = document;
    const at = adoptedStyleSheets.indexOf(sheet);
    if (at !== -1) adoptedStyleSheets.splice(at, 1);
  }

  #show({ left, right }: Mark): boolean {
    this.hide();
    const root = document.documentElement;
    if (!(root instanceof HTMLHtmlElement) || document.querySelector(ABOVE_ALL) !== null) return false;
    const colors = [left, right].map((color) => `rgb(${color.join(', ')})`);
    const image = `linear-gradient(90deg, ${colors[0]} 50%, ${colors[1]} 50%)`;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      `html:root:root:root:root::after { all: initial !important; content: "" !important; position: fixed !important;
        left: 0 !important; top: 0 !important; width: 16px !important; height: 8px !important; z-index: 2147483647 !important;
        pointer-events: none !important; forced-color-adjust: none !important; background: ${image} !important; }`,
    );
    document.adoptedStyleSheets.push(sheet);
    this.#sheet = sheet;
    const own = getComputedStyle(root, '::after');
    if (own.position !== 'fixed' || own.backgroundImage !== image || own.content !== '""') return false;
    const style = getComputedStyle(root);
    return (
      style.transform === 'none' && style.filter === 'none' && style.opacity === '1' && style.mixBlendMode === 'normal'
    );
  }
}
