import { DOUBLE, DROP } from '../event-kinds.js';
import type { NameMemory } from '../names/name-memory.js';
import { inputKind, isAtomic, isControl, roleOf } from '../names/roles.js';
import { isBoxless } from '../tree/boxless.js';
import { frameDocument, isFrame, isHtml, isLeaf, mayBeFrame, parentOf, shadowOf, walk } from '../tree/flat-tree.js';
import { labelsOf, namedBy } from '../tree/labels.js';
import { drawingOf } from '../tree/self-drawn.js';
import { isVeil, type Region, Sight, viewportRegion } from '../tree/sight.js';
import { type Around, clipped, regionAround, regionsOf, seenInFrame } from '../tree/surroundings.js';
import { drawnRect, isPutAway, isSeen, isSolid, type Rect, thumbOf } from '../tree/visibility.js';
import { isTag } from './carried.js';
import { type Clickable, clickableOf, isOwnPart, isTile } from './clickables.js';
import { Control } from './control.js';
import { discoveries } from './discoveries.js';
import { Evidence } from './evidence.js';
import { isPointedAt } from './hover-rules.js';
import { itemsOf } from './items.js';
import { outsideOfModals } from './modals.js';
import { beginMarkup, reactionsOf, readMarkup } from './reactions.js';
import { holdsControls, withoutDrawings, withoutFrames, withoutWrappers } from './wrappers.js';

const IGNORED = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta', 'br', 'wbr']);

/** What is no target of its own, though a cursor or a listener says so. */
const NO_TARGETS = new Set(['body', 'html', 'label', 'option', 'slot']);

/** What shows something without holding anything. */
const PICTURES = new Set(['canvas', 'embed', 'img', 'object', 'svg', 'video']);

/** A frame of another origin: its controls stand after so many of this document's. */
export interface FrameGap {
  readonly at: number;
  readonly frame: Element;
  readonly offscreen: boolean;
}

export interface Collected {
  readonly controls: readonly Control[];
  readonly gaps: readonly FrameGap[];
}

/** An element that is drawn, and where. */
interface Found {
  readonly rect: Rect;
  readonly offscreen: boolean;
  /** Not drawn through. */
  readonly solid: boolean;
}

/** One walk through the documents that can be reached from here, for what a person can operate. */
export class Collector {
  readonly sight: Sight;
  /** What the walk rests on. */
  readonly evidence = new Evidence();
  readonly #memory: NameMemory;
  readonly #controls: Control[] = [];
  readonly #gaps: FrameGap[] = [];
  /** Those that only a style or a listener makes controls. */
  readonly #clickables = new Set<Control>();
  /** Of these, those that only listen. */
  readonly #listeners = new Set<Control>();
  /** Children of an element that listens for them. */
  readonly #items = new Set<Element>();
  /** What is operated in the place of a field that is out of sight. */
  readonly #drawings = new Set<Element>();
  readonly #modals: Element[] = [];
  /** In their order; null for what can hold nothing. */
  readonly #visited: (Element | null)[] = [];
  /** In which of them each stands. */
  readonly #within: number[] = [];
  /** Which of them must be looked at each time, and what they stand in. */
  readonly #awake: boolean[] = [];

  /** @param covered those too that something covers */
  constructor(memory: NameMemory, covered: boolean) {
    this.sight = new Sight(covered);
    this.#memory = memory;
  }

  collect(): Collected {
    // A script may have removed it.
    const root: Element | null = document.documentElement;
    if (root === null) return { controls: [], gaps: [] };
    beginMarkup();
    const view = viewportRegion(
      root,
      { left: 0, top: 0, right: innerWidth, bottom: innerHeight },
      { width: innerWidth, height: innerHeight },
    );
    const around: Around = { pointer: false, listened: false, control: null, region: view, placed: view, view };
    walk(root, around, (...visited) => this.#visit(...visited));
    this.#rest();
    const open = withoutDrawings(outsideOfModals(this.#controls, this.#modals), this.#clickables, this.#drawings);
    const controls = withoutFrames(withoutWrappers(open, this.#clickables), this.#listeners, this.#clickables);
    return { controls, gaps: this.#gapsIn(controls) };
  }

  /** Parts without anything to operate are passed over the next time, while the document is as it is. */
  #rest(): void {
    const awake = this.#awake;
    // What an element stands in comes before it.
    for (let nth = awake.length - 1; nth > 0; nth--) if (awake[nth] === true) awake[this.#within[nth] ?? 0] = true;
    // Whoever passes over an element passes over what is in it.
    const isOutermost = (nth: number): boolean => awake[nth] === false && awake[this.#within[nth] ?? -1] !== false;
    this.#memory.rest(this.#visited.flatMap((element, nth) => (element !== null && isOutermost(nth) ? element : [])));
  }

  #visit(element: Element, around: Around, nth: number, within: number): Around | undefined {
    const tag = element.localName;
    const passed = IGNORED.has(tag) || this.#memory.isIdle(element);
    this.#visited.push(passed ? null : element);
    this.#within.push(within);
    this.#awake.push(false);
    if (passed || element.hasAttribute('inert')) return undefined;
    if (tag === 'area') {
      this.#awake[nth] = true;
      const found = isControl(element) ? this.#find(element, element, around.region) : null;
      if (found !== null) this.#add(element, found);
      return undefined;
    }
    const operable = isControl(element);
    const solid = operable && isSolid(element);
    if (!solid && !element.checkVisibility() && !isBoxless(element)) {
      // It may be shown by a style alone.
      this.#awake[nth] = true;
      this.evidence.hidden(element);
      if ((tag === 'input' || tag === 'button') && !isPart(element, around.control))
        this.#addPutAway(element, around.region);
      return undefined;
    }
    if (tag === 'dialog') this.#awake[nth] = true;
    if (tag === 'dialog' && element.matches(':modal')) this.#modals.push(element);
    const leaf = isLeaf(element);
    if (operable && leaf) {
      this.#awake[nth] = true;
      if (!isPart(element, around.control)) this.#addControl(element, solid, regionAround(element, around));
      return undefined;
    }
    const style = getComputedStyle(element);
    const own = regionsOf(style, around);
    let { pointer, listened, control } = own;
    if (operable) {
      this.#awake[nth] = true;
      if (!isPart(element, control)) this.#addControl(element, solid, own.region);
      pointer = true;
      control = element;
    } else if (control === null) {
      pointer = style.cursor === 'pointer' || (own.pointer && style.cursor === 'auto') || isPointedAt(element);
      const clickable = clickableOf(element, style, around);
      if (clickable !== null || this.#items.has(element)) {
        this.#awake[nth] = true;
        this.#addClickable(element, own.region, clickable);
        if (clickable?.listens === true && tag !== 'body' && tag !== 'html') listened = true;
      }
    } else if (isOwnPart(element, control)) {
      this.#awake[nth] = true;
      const found = this.#find(element, element, own.region);
      if (found !== null) this.#clickables.add(this.#add(element, found));
    }
    if (leaf) return undefined;
    const same = pointer === own.pointer && listened === own.listened && control === own.control;
    const next = same ? own : { ...own, pointer, listened, control };
    const inner = clipped(element, style, next);
    if (inner.region !== next.region) this.evidence.clips(element);
    return this.#inside(element, inner, nth);
  }

  /** Goes on into a shadow root or a frame. */
  #inside(element: Element, around: Around, nth: number): Around | undefined {
    const shadow = shadowOf(element);
    if (shadow !== null) {
      this.#memory.observe(shadow);
      readMarkup(shadow);
    }
    if (!mayBeFrame(element)) return around;
    this.#awake[nth] = true;
    this.evidence.frame(element);
    if (!isFrame(element)) return around;
    const inner = frameDocument(element);
    const place = this.#find(element, element, around.region);
    if (place === null || element.clientWidth === 0 || element.clientHeight === 0) return undefined;
    if (inner === null) {
      this.#gaps.push({ at: this.#controls.length, frame: element, offscreen: place.offscreen });
      return undefined;
    }
    const { defaultView } = inner;
    if (defaultView === null) return undefined;
    discoveries()?.ask(defaultView, this.#memory.mutations);
    this.#memory.observe(inner);
    // A document that has just come is empty: what it gets is noticed.
    const root = inner.documentElement;
    if (root === null) return undefined;
    readMarkup(inner);
    const view = viewportRegion(root, seenInFrame(element, around.region), {
      width: element.clientWidth,
      height: element.clientHeight,
    });
    return { pointer: false, listened: false, control: null, region: view, placed: view, view };
  }

  #addControl(element: Element, solid: boolean, region: Region): void {
    const found = this.#find(element, element, region, solid);
    // Neither to be seen nor to be hit.
    const fadedOut = found?.solid === false && getComputedStyle(element).pointerEvents === 'none';
    if (found === null || fadedOut || hasNoRoom(element)) {
      this.#addPutAway(element, region);
      return;
    }
    const drawing = found.solid && element.localName !== 'textarea' ? null : drawingOf(element);
    if (drawing !== null) this.#drawings.add(drawing);
    this.#add(element, found);
  }

  /** What its page has put away: a person reaches an input by its label or the button beside it, an editor by its text. */
  #addPutAway(element: Element, region: Region): void {
    if (!isPutAway(element)) {
      this.#addDrawing(element, region);
      return;
    }
    if (element.disabled) return;
    for (const label of labelsOf(element)) {
      const found = this.#findLabel(element, label, region);
      if (found === null) continue;
      this.#add(element, found);
      return;
    }
    const thumb = element.type === 'range' ? thumbOf(element) : null;
    const held = thumb === null ? null : this.#findLabel(element, thumb, region);
    if (held !== null) {
      this.#add(element, held);
      return;
    }
    if (this.#addDrawing(element, region)) return;
    const parent = parentOf(element);
    if (element.type !== 'file' || parent?.checkVisibility() !== true) return;
    this.#add(element, { rect: element.getBoundingClientRect(), offscreen: false });
  }

  /** What is pressed in its place is no other control. */
  #addDrawing(element: Element, region: Region): boolean {
    const drawing = drawingOf(element);
    const drawn = drawing === null ? null : this.#findLabel(element, drawing, region);
    if (drawing === null || drawn === null) return false;
    this.#drawings.add(drawing);
    this.#add(element, drawn);
    return true;
  }

  /** @param label or what else is operated in its place */
  #findLabel(element: Element, label: Element, region: Region): Found | null {
    // The input may be clipped by a box of its own that the label is not in.
    let around = region;
    while (around.outer !== null && !around.element.contains(label)) around = around.outer;
    return this.#find(element, label, around);
  }

  /** @param why null: a listener on what it stands in is for it */
  #addClickable(element: Element, region: Region, why: Clickable | null): void {
    const tag = element.localName;
    const double = tag === 'label' && (reactionsOf(element) & DOUBLE) !== 0;
    if ((NO_TARGETS.has(tag) && !double) || isAroundLabel(element) || isInLabel(element, why)) return;
    const sure = why === null || why.sure || this.#items.has(element);
    if (!sure && ((why.listens && isLabel(element)) || showsPanels(element))) return;
    const items = why?.listens === true && why.sure === false ? itemsOf(element) : [];
    for (const item of items) this.#items.add(item);
    const drops = (reactionsOf(element) & DROP) !== 0;
    if (items.length > 0 && !(drops && why?.otherwise === true)) return;
    // A listener on a container is for what is in it; but what is carried is dropped on the container itself.
    const holds = element.childElementCount > 0 || shadowOf(element) !== null;
    const forOthers = !sure && !(drops && why.otherwise) && holds && holdsControls(element);
    if (forOthers && !(why.listens ? isTile(element) : isTag(element))) return;
    const found = this.#find(element, element, region);
    if (found === null) return;
    // What lies under a dialog, to catch the clicks beside it.
    const empty = element.childNodes.length === 0 && !PICTURES.has(element.localName);
    if (empty && isVeil(found.rect, element.ownerDocument)) return;
    const control = this.#add(element, found);
    this.#clickables.add(control);
    const several = roleOf(element) !== 'row' && tag !== 'tr' && !drops;
    if (!sure && several && !isTile(element)) this.#listeners.add(control);
  }

  #add(element: Element, { rect, offscreen }: Pick<Found, 'rect' | 'offscreen'>): Control {
    const control = new Control(element, rect, offscreen, this.#memory);
    this.#controls.push(control);
    return control;
  }

  /** @param shown what is looked for in the element's place */
  #find(element: Element, shown: Element, region: Region, solid = isSolid(shown)): Found | null {
    const seen = solid || isSeen(shown);
    const rect = seen ? drawnRect(shown) : null;
    const sighted = rect === null ? null : this.sight.whereIs(element, shown, rect, region);
    this.evidence.sighting(element, shown, { solid, seen, rect }, region, sighted);
    if (rect === null || sighted === null || sighted.is === 'nowhere') return null;
    return { rect, offscreen: sighted.is === 'offscreen', solid };
  }

  #gapsIn(controls: readonly Control[]): readonly FrameGap[] {
    if (this.#gaps.length === 0 || controls.length === this.#controls.length) return this.#gaps;
    const kept = new Set(controls);
    // How many of the controls before each place are left.
    let left = 0;
    const before = [0, ...this.#controls.map((control) => (kept.has(control) ? ++left : left))];
    return this.#gaps.map((gap) => ({ ...gap, at: before[gap.at] ?? left }));
  }
}

/** Whether a field has no room for a character: its library shows its value in another way. */
function hasNoRoom(element: Element): boolean {
  if (element.localName !== 'input' || element.clientWidth > 0 || element.clientHeight > 0) return false;
  return inputKind(element) === 'typed';
}

/** Whether an element is only what the control around it is made of. */
function isPart(element: Element, control: Element | null): boolean {
  return control !== null && isAtomic(control, element);
}

/** Whether all that is in an element is a control's label, which a press goes to. */
function isAroundLabel({ firstElementChild: first, childElementCount }: Element): boolean {
  if (first === null || childElementCount > 1) return false;
  const [only, ...others] = isHtml(first, 'slot') ? first.assignedElements() : [first];
  return only !== undefined && others.length === 0 && isHtml(only, 'label') && only.control !== null;
}

/** Whether a press on an element is one on the control of the label around it. */
function isInLabel(element: Element, why: Clickable | null): boolean {
  const label = why?.listens === false ? element.closest('label') : null;
  return label !== null && label.control !== null && !label.control.contains(element);
}

/** Whether an element names a control or a group of them that stands elsewhere: a press on it goes there, as on a label. */
function isLabel(element: Element): boolean {
  return namedBy(element).some((one) => {
    const named = isControl(one) || /^(group|radiogroup|listbox)$/.test(roleOf(one));
    return named && one !== element && !element.contains(one);
  });
}

/** Whether an element is what tabs show, or holds that: it may be wiped aside. */
function showsPanels(element: Element): boolean {
  return roleOf(element) === 'tabpanel' || element.querySelector(':scope > [role="tabpanel"]') !== null;
}
