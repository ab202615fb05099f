import type { ActionName } from '../../protocol/look.js';
import { ChangesSince } from '../changes.js';
import { isHtml, parentOf } from '../tree/flat-tree.js';
import { nearbyStyles } from './nearby-styles.js';

/** What happens on a page without a change of its document. */
const EVENTS = ['scroll', 'beforetoggle', 'play', 'pause', 'volumechange', 'ratechange'] as const;
/** Scrolling by the wheel is animated. */
const SCROLL_MS = 1_000;
/** Canvases inside one element that are compared. */
const MAX_CANVASES = 4;
/** A larger canvas is not compared, in pixels. */
const MAX_PIXELS = 4_000_000;
/** Actions that leave nothing behind but a selection. */
const SELECTING: ReadonlySet<ActionName> = new Set(['selectText', 'dblclick', 'tripleclick']);

/**
 * Notices whether anything changes around an element from its making on: in the document, on a canvas, what is scrolled,
 * shown in the top layer or played. For a hover also what its style alone changes.
 */
export class Signs {
  readonly #changes = new ChangesSince();
  readonly #view: Window | null;
  readonly #around = new Set<Node>();
  readonly #scrolling = new Set<EventTarget>();
  readonly #still: () => readonly unknown[];
  readonly #before: readonly unknown[];
  #heard = false;
  #wheeled = false;
  #wake: (() => void) | null = null;

  readonly #hear = (event: Event): void => {
    const { type, target } = event;
    if (target === null) return;
    if (type === 'wheel') this.#wheeled ||= event.isTrusted;
    else if (type === 'scrollend') this.#scrolling.delete(target);
    else {
      if (type === 'scroll') this.#scrolling.add(target);
      // What scrolls the element itself has been scrolled to reach it; how far it is scrolled is compared.
      if (type !== 'scroll' || !this.#around.has(target as Node)) this.#heard = true;
    }
    this.#wake?.();
  };

  constructor(element: Element, action: ActionName) {
    const inner = element.ownerDocument;
    this.#view = inner.defaultView;
    this.#around.add(inner);
    for (let node: Element | null = element; node !== null; node = parentOf(node)) this.#around.add(node);
    for (const type of [...EVENTS, 'scrollend', 'wheel']) {
      this.#view?.addEventListener(type, this.#hear, { capture: true, passive: true });
    }
    this.#still = () => [
      ...canvasesOf(action === 'drag' ? inner.documentElement : element).map(drawnOn),
      ...(SELECTING.has(action) ? [String(inner.getSelection()), rangeOf(element)] : []),
      ...(action === 'hover' ? [nearbyStyles(element)] : []),
    ];
    this.#before = this.#still();
  }

  /** What was heard, or changed in the document, so far. */
  get any(): boolean {
    return this.#heard || this.#changes.any;
  }

  /** As {@link any}, and what is only seen by comparing. */
  get differs(): boolean {
    return this.any || this.isDrawn;
  }

  /** What is only seen by comparing: a drawing on a canvas, a selection, a style. */
  get isDrawn(): boolean {
    return this.#still().some((one, index) => one !== this.#before[index]);
  }

  /** The wheel was turned: what it scrolls may be on its way. */
  get isMoving(): boolean {
    return this.#wheeled;
  }

  /** Settles at the first sign, or after `ms`; what the wheel has set in motion is waited for. */
  async first(ms: number): Promise<void> {
    const heard = this.#until(() => this.any || this.#scrolling.size > 0, ms);
    await Promise.race([this.#changes.first(ms), heard]);
    if (this.#wheeled) await this.#until(() => this.#scrolling.size === 0, SCROLL_MS);
  }

  stop(): void {
    for (const type of [...EVENTS, 'scrollend', 'wheel']) {
      this.#view?.removeEventListener(type, this.#hear, { capture: true });
    }
  }

  async #until(holds: () => boolean, ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    for (let left = ms; !holds() && left > 0; left = deadline - performance.now()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

function canvasesOf(element: Element): HTMLCanvasElement[] {
  if (isHtml(element, 'canvas')) return [element];
  return [...element.getElementsByTagName('canvas')].slice(0, MAX_CANVASES);
}

/** A number for what is drawn; null where nobody may read it. */
function drawnOn(canvas: HTMLCanvasElement): number | null {
  const { width, height, ownerDocument } = canvas;
  if (width * height === 0 || width * height > MAX_PIXELS) return null;
  const copy = ownerDocument.createElement('canvas');
  [copy.width, copy.height] = [width, height];
  const context = copy.getContext('2d', { willReadFrequently: true });
  try {
    context?.drawImage(canvas, 0, 0);
    const { data } = context?.getImageData(0, 0, width, height) ?? { data: new Uint8ClampedArray() };
    let hash = 1;
    for (const pixel of new Uint32Array(data.buffer)) {
      hash = Math.imul(hash ^ pixel ^ (pixel >>> 16), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  } catch {
    // One that shows another origin's picture.
    return null;
  }
}

function rangeOf(element: Element): string {
  if (!isHtml(element, 'input') && !isHtml(element, 'textarea')) return '';
  return `${element.selectionStart} ${element.selectionEnd}`;
}
