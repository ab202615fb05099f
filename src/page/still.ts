import { allRoots } from './tree/flat-tree.js';
import { isVisible } from './tree/visibility.js';

/** Pictures and fonts are looked at again after this time. */
const LOOK_AGAIN_MS = 50;
const CALM = '* { caret-color: transparent !important; scroll-behavior: auto !important; }';

/** Holds a page still for a picture: the same page then looks the same each time. */
export class Still {
  readonly #sheets = new Map<Document | ShadowRoot, CSSStyleSheet>();
  /** Animations without an end, and where they were. */
  readonly #paused = new Map<Animation, CSSNumberish | null>();
  readonly #drawings = new Set<SVGSVGElement>();

  /**
   * Ends animations that have an end, puts the others at their beginning, hides the text cursor, and waits for fonts and pictures.
   *
   * @returns what has not loaded after `ms`; null: nothing
   */
  async hold(ms: number): Promise<string | null> {
    const deadline = performance.now() + ms;
    for (;;) {
      const roots = allRoots();
      for (const root of roots) this.#calm(root);
      const busy = loading(roots);
      await painted(Math.max(LOOK_AGAIN_MS, deadline - performance.now()));
      if (busy === null || performance.now() >= deadline) return busy;
    }
  }

  /** Lets everything go on from where it was. Idempotent. */
  release(): void {
    for (const [root, sheet] of this.#sheets) {
      const at = root.adoptedStyleSheets.indexOf(sheet);
      if (at !== -1) root.adoptedStyleSheets.splice(at, 1);
    }
    this.#sheets.clear();
    for (const [animation, time] of this.#paused) {
      attempt(() => {
        animation.currentTime = time;
        animation.play();
      });
    }
    this.#paused.clear();
    for (const drawing of this.#drawings) attempt(() => drawing.unpauseAnimations());
    this.#drawings.clear();
  }

  #calm(root: Document | ShadowRoot): void {
    const inner = root.nodeType === 9 ? (root as Document) : root.ownerDocument;
    const view = inner?.defaultView;
    if (inner === null || view === null || view === undefined) return;
    const known = this.#sheets.get(root);
    if (known === undefined || !root.adoptedStyleSheets.includes(known)) {
      attempt(() => {
        // A sheet belongs to the document in which it was made.
        const sheet: CSSStyleSheet = new (view as unknown as typeof globalThis).CSSStyleSheet();
        sheet.replaceSync(CALM);
        root.adoptedStyleSheets.push(sheet);
        this.#sheets.set(root, sheet);
      });
    }
    for (const animation of root.getAnimations()) this.#end(animation);
    for (const drawing of root.querySelectorAll('svg')) {
      if (this.#drawings.has(drawing) || drawing.querySelector('animate,animateTransform,animateMotion,set') === null)
        continue;
      this.#drawings.add(drawing);
      attempt(() => {
        drawing.pauseAnimations();
        drawing.setCurrentTime(0);
      });
    }
  }

  #end(animation: Animation): void {
    if (animation.playState === 'finished' || animation.playState === 'idle') return;
    if (animation.playState === 'paused') return;
    attempt(() => {
      const end = animation.effect?.getComputedTiming().endTime;
      // One that follows the scroll position stands still as long as that does.
      if (animation.timeline !== null && !(animation.timeline instanceof DocumentTimeline)) return;
      if (end !== Number.POSITIVE_INFINITY && animation.playbackRate !== 0) {
        animation.finish();
        return;
      }
      this.#paused.set(animation, animation.currentTime);
      animation.pause();
      animation.currentTime = 0;
    });
  }
}

/** What a picture of the page would lack now. */
function loading(roots: readonly (Document | ShadowRoot)[]): string | null {
  for (const root of roots) {
    if (root.nodeType === 9 && (root as Document).fonts.status === 'loading') return 'a font';
    for (const image of root.querySelectorAll('img')) {
      if (!image.complete && image.loading !== 'lazy' && isVisible(image)) return 'a picture';
    }
  }
  return null;
}

/** Settles when the page has drawn what it has got, and after `ms` at most: a page in the background draws nothing. */
function painted(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(ms, 1_000));
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      }),
    );
  });
}

/** A page may have replaced any of the functions that are called. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It keeps moving; two pictures that differ tell.
  }
}
