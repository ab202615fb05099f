import { accessibleName } from './accessible-name.js';
import { discoveries } from './discoveries.js';
import { frameDocument, isFrame, parentOf, shadowOf, walk } from './flat-tree.js';
import { labelsOf } from './labels.js';
import type { NameMemory } from './name-memory.js';
import { answersTo, isAtomic, isControl, isFrameOf, naturalRole, roleOf } from './roles.js';
import { clippedRegion, isIn, isVeil, type Region, Sight, viewportRegion } from './sight.js';
import { drawnRect, isPutAway } from './visibility.js';

/** Something that a person can operate. Its name is computed when somebody asks. */
export class Control {
  readonly element: Element;
  readonly role: string;
  readonly rect: DOMRect;
  /** It must be scrolled to. */
  readonly offscreen: boolean;
  readonly #memory: NameMemory | undefined;
  #name: string | undefined;

  constructor(element: Element, rect: DOMRect, offscreen: boolean, memory: NameMemory | undefined) {
    this.element = element;
    this.role = roleOf(element);
    this.rect = rect;
    this.offscreen = offscreen;
    this.#memory = memory;
  }

  get name(): string {
    this.#name ??= this.#memory?.nameOf(this.element, this.rect) ?? accessibleName(this.element);
    return this.#name;
  }

  /** The words by which locators may call it. */
  get words(): readonly string[] {
    const natural = this.role === this.element.localName ? naturalRole(this.element) : this.role;
    return natural === this.role ? [this.role] : [this.role, natural];
  }
}

/** What holds for the children of an element. */
interface Around {
  /** Inside an element whose cursor is a pointer. */
  readonly pointer: boolean;
  /** Inside an element that listens for presses. */
  readonly listened: boolean;
  /** The control around it. */
  readonly control: Element | null;
  readonly region: Region;
  /** The region of the nearest ancestor that absolutely placed elements are placed in. */
  readonly placed: Region;
  /** The region of the document's viewport. */
  readonly view: Region;
}

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

/**
 * Everything in the documents that can be reached from here that a person can operate now, in the order of drawing. With
 * `word`, only what answers to it.
 */
export function collectControls(word: string): readonly Control[] {
  return collect(word).controls;
}

/** Those too that something covers: an error speaks of them, and an action waits until they are free. */
export function collectCovered(word: string): readonly Control[] {
  return new Collector(word, undefined, true).collect().controls;
}

/** As {@link collectControls}, with the places of frames of other origins. */
export function collect(word: string, memory?: NameMemory): Collected {
  return new Collector(word, memory, false).collect();
}

const IGNORED = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta', 'br', 'wbr']);

/** What is no target of its own, though a cursor or a listener says so. */
const NO_TARGETS = new Set(['body', 'html', 'label', 'option', 'slot']);

class Collector {
  readonly #word: string;
  readonly #memory: NameMemory | undefined;
  readonly #controls: Control[] = [];
  readonly #gaps: FrameGap[] = [];
  /** Those that only a style or a listener makes controls. */
  readonly #clickables = new Set<Control>();
  readonly #modals: Element[] = [];
  readonly #visited: Element[] = [];
  /** Elements that must be looked at each time. */
  readonly #awake: Element[] = [];
  readonly #sight: Sight;

  constructor(word: string, memory: NameMemory | undefined, covered: boolean) {
    this.#sight = new Sight(covered);
    this.#word = word;
    this.#memory = memory;
  }

  collect(): Collected {
    discoveries()?.ask(window);
    this.#memory?.observe(document);
    this.#memory?.refresh(`${innerWidth} ${innerHeight} ${devicePixelRatio} ${discoveries()?.count}`);
    const root = document.documentElement;
    const view = viewportRegion(root, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
    const around: Around = { pointer: false, listened: false, control: null, region: view, placed: view, view };
    if (root !== null) walk(root, around, (element, inherited) => this.#visit(element, inherited));
    this.#rest();
    const unblocked = this.#modals.length === 0 ? this.#controls : this.#controls.filter((one) => this.#isInModal(one));
    const controls = withoutWrappers(unblocked, this.#clickables);
    return { controls, gaps: this.#gapsIn(controls) };
  }

  /** Parts without anything to operate are passed over the next time, while the document is as it is. */
  #rest(): void {
    if (this.#memory === undefined) return;
    const awake = new Set<Element>();
    for (const element of this.#awake) {
      for (let node: Element | null = element; node !== null && !awake.has(node); node = parentOf(node))
        awake.add(node);
    }
    this.#memory.rest(this.#visited.filter((element) => !awake.has(element)));
  }

  #visit(element: Element, around: Around): Around | undefined {
    const tag = element.localName;
    if (IGNORED.has(tag) || this.#memory?.isIdle(element) === true) return undefined;
    this.#visited.push(element);
    if (element.hasAttribute('inert')) return undefined;
    if (tag === 'area') {
      this.#awake.push(element);
      this.#addArea(element, around.region);
      return undefined;
    }
    if (!element.checkVisibility()) {
      // It may be shown by a style alone.
      this.#awake.push(element);
      if (tag === 'input') this.#addPutAway(element, around.region);
      return getComputedStyle(element).display === 'contents' ? this.#inside(element, around) : undefined;
    }
    if (tag === 'dialog') this.#awake.push(element);
    if (tag === 'dialog' && element.matches(':modal')) this.#modals.push(element);
    const style = getComputedStyle(element);
    const own = regionsOf(style, around);
    let { pointer, listened, control } = own;
    if (isControl(element)) {
      this.#awake.push(element);
      if (control === null || !isAtomic(control, element)) this.#addControl(element, style, own.region);
      pointer = true;
      control = element;
    } else if (control === null) {
      pointer = style.cursor === 'pointer';
      const listens = discoveries()?.listens(element) === true;
      const byStyle = pointer && !around.pointer;
      const sure = byStyle || element.hasAttribute('onclick') || element.getAttribute('draggable') === 'true';
      const focusable = listened && element.hasAttribute('tabindex');
      if (sure || listens || focusable) this.#awake.push(element);
      if (!NO_TARGETS.has(tag) && (sure || listens || focusable)) this.#addClickable(element, own.region, sure);
      if (listens && tag !== 'body' && tag !== 'html') listened = true;
    }
    const same = pointer === own.pointer && listened === own.listened && control === own.control;
    const next = same ? own : { ...own, pointer, listened, control };
    return this.#inside(element, clipped(element, style, next));
  }

  /** Goes on into a shadow root or a frame. */
  #inside(element: Element, around: Around): Around | undefined {
    const shadow = shadowOf(element);
    if (shadow !== null) this.#memory?.observe(shadow);
    if (!isFrame(element)) return around;
    this.#awake.push(element);
    const inner = frameDocument(element);
    const place = this.#sight.whereIs(element, element, element.getBoundingClientRect(), around.region);
    if (place === 'nowhere' || element.clientWidth === 0 || element.clientHeight === 0) return undefined;
    if (inner === null) {
      this.#gaps.push({ at: this.#controls.length, frame: element, offscreen: place === 'offscreen' });
      return undefined;
    }
    const root = inner.documentElement;
    const { defaultView } = inner;
    if (root === null || defaultView === null) return undefined;
    discoveries()?.ask(defaultView);
    this.#memory?.observe(inner);
    const view = viewportRegion(root, seenInFrame(element, around.region));
    return { pointer: false, listened: false, control: null, region: view, placed: view, view };
  }

  #addControl(element: Element, style: CSSStyleDeclaration, region: Region): void {
    if (!answersTo(element, this.#word)) return;
    // Neither to be seen nor to be hit.
    const fadedOut = style.pointerEvents === 'none' && !element.checkVisibility({ opacityProperty: true });
    const rect = fadedOut ? null : drawnRect(element);
    if (rect !== null && element.checkVisibility({ visibilityProperty: true })) {
      const place = this.#sight.whereIs(element, element, rect, region);
      if (place !== 'nowhere') {
        this.#controls.push(new Control(element, rect, place === 'offscreen', this.#memory));
        return;
      }
    }
    this.#addPutAway(element, region);
  }

  /** A part of a picture that is a link. It has a place and no box of its own. */
  #addArea(element: Element, region: Region): void {
    const map = element.closest('map');
    const root = element.getRootNode();
    if (map === null || !isControl(element) || !answersTo(element, this.#word) || !('querySelector' in root)) return;
    const picture = (root as ParentNode).querySelector(`img[usemap="#${CSS.escape(map.name)}"]`);
    const rect = picture?.checkVisibility({ visibilityProperty: true }) === true ? drawnRect(picture) : null;
    if (picture === null || rect === null) return;
    // Its shape may be anywhere in the picture.
    const place = isIn(rect, region) ? 'here' : this.#sight.whereIs(element, picture, rect, region);
    if (place !== 'nowhere') this.#controls.push(new Control(element, rect, place === 'offscreen', this.#memory));
  }

  /** An input that its page has put away: a person reaches it by its label, or by the button beside it. */
  #addPutAway(element: Element, region: Region): void {
    if (!isPutAway(element) || element.disabled || !answersTo(element, this.#word)) return;
    for (const label of labelsOf(element)) {
      const rect = label.checkVisibility({ visibilityProperty: true }) ? drawnRect(label) : null;
      // Where the label is, its own surroundings decide; that it is drawn is enough out of view.
      const place = rect === null ? 'nowhere' : this.#placeOfLabel(element, label, rect, region);
      if (rect === null || place === 'nowhere') continue;
      this.#controls.push(new Control(element, rect, place === 'offscreen', this.#memory));
      return;
    }
    const parent = parentOf(element);
    if (element.type !== 'file' || parent?.checkVisibility() !== true) return;
    this.#controls.push(new Control(element, element.getBoundingClientRect(), false, this.#memory));
  }

  #placeOfLabel(element: Element, label: Element, rect: DOMRect, region: Region) {
    // The input may be clipped by a box of its own that the label is not in.
    let around = region;
    while (around.outer !== null && !around.element.contains(label)) around = around.outer;
    return this.#sight.whereIs(element, label, rect, around);
  }

  #addClickable(element: Element, region: Region, sure: boolean): void {
    if (!answersTo(element, this.#word) || !element.checkVisibility({ visibilityProperty: true })) return;
    const rect = drawnRect(element);
    if (rect === null) return;
    // A listener on a container is for what is in it.
    if (!sure && (element.childElementCount > 0 || shadowOf(element) !== null) && holdsControls(element)) return;
    // What lies under a dialog, to catch the clicks beside it.
    if (!sure && element.childNodes.length === 0 && isVeil(rect, element.ownerDocument)) return;
    const place = this.#sight.whereIs(element, element, rect, region);
    if (place === 'nowhere') return;
    const control = new Control(element, rect, place === 'offscreen', this.#memory);
    this.#controls.push(control);
    this.#clickables.add(control);
  }

  /** Whether no modal dialog of its document, or of one around it, makes it inert. */
  #isInModal({ element }: Control): boolean {
    for (let at: Element | null = element; at !== null; at = parentOf(at)) {
      const inner = at.ownerDocument;
      const modals = this.#modals.filter((modal) => modal.ownerDocument === inner);
      const top = modals.find((modal) => isOnTop(modal)) ?? modals.at(-1);
      let inside = top === undefined;
      let last: Element = at;
      for (let node: Element | null = at; node !== null && node.ownerDocument === inner; node = parentOf(node)) {
        inside ||= node === top;
        last = node;
      }
      if (!inside) return false;
      at = last;
    }
    return true;
  }

  #gapsIn(controls: readonly Control[]): readonly FrameGap[] {
    if (this.#gaps.length === 0 || controls.length === this.#controls.length) return this.#gaps;
    const kept = new Set(controls);
    return this.#gaps.map((gap) => ({
      ...gap,
      at: this.#controls.slice(0, gap.at).filter((control) => kept.has(control)).length,
    }));
  }
}

/** Fixed and absolutely placed elements are clipped by other boxes than those around them. */
function regionsOf({ position }: CSSStyleDeclaration, around: Around): Around {
  if (position === 'static' || position === 'relative' || position === 'sticky') return around;
  const region = position === 'fixed' ? fixedRegion(around.view) : around.placed;
  return region === around.region ? around : { ...around, region };
}

function fixedRegion(view: Region): Region {
  return view.scrollsX || view.scrollsY ? { ...view, scrollsX: false, scrollsY: false } : view;
}

function clipped(element: Element, style: CSSStyleDeclaration, around: Around): Around {
  // Most elements of a page hold no other; and none clips along one axis alone but by `clip`.
  if (element.firstElementChild === null && shadowOf(element) === null) return around;
  const clips = style.overflowX !== 'visible' || style.overflowY === 'clip';
  if (!clips && around.placed === around.region) return around;
  // What the page's root and body say holds for the viewport.
  const own = clips && style.display !== 'inline' && !/^(html|body)$/.test(element.localName);
  const region = own ? clippedRegion(element, style, around.region) : around.region;
  const holdsPlaced = style.position !== 'static' || style.transform !== 'none';
  if (region === around.region && !holdsPlaced) return around;
  return { ...around, region, placed: holdsPlaced ? region : around.placed };
}

/** What of a frame's own viewport can be seen, in its coordinates. */
function seenInFrame(frame: Element, region: Region) {
  const box = frame.getBoundingClientRect();
  const left = box.left + frame.clientLeft;
  const top = box.top + frame.clientTop;
  if (!isIn(box, region)) return { left: 0, top: 0, right: 0, bottom: 0 };
  return {
    left: Math.max(0, region.left - left),
    top: Math.max(0, region.top - top),
    right: Math.min(frame.clientWidth, region.right - left),
    bottom: Math.min(frame.clientHeight, region.bottom - top),
  };
}

/** Whether a listener on the element serves the controls in it rather than itself. */
function holdsControls(element: Element): boolean {
  let holds = false;
  walk(element, true, (inner) => {
    if (holds || inner.hasAttribute('inert')) return undefined;
    const target = isControl(inner) || inner.hasAttribute('tabindex') || discoveries()?.listens(inner) === true;
    if (inner !== element && target) holds = true;
    return true;
  });
  return holds;
}

/** Of several open dialogs the one that is drawn over the others. */
function isOnTop(modal: Element): boolean {
  const { left, top, width, height } = modal.getBoundingClientRect();
  const root = modal.getRootNode() as Document | ShadowRoot;
  const hit = root.elementFromPoint(left + width / 2, top + height / 2);
  for (let node = hit; node !== null; node = parentOf(node)) if (node === modal) return true;
  return false;
}

/**
 * Leaves out elements that are clickable only around one control of the same name, or of the only name, and fields that
 * are only the frame of another.
 */
function withoutWrappers(controls: readonly Control[], clickables: ReadonlySet<Control>): readonly Control[] {
  return controls.filter((control, index) => {
    const before = controls[index - 1];
    // `<li role=tab><a tabindex=-1>`: the link in it is the tab again.
    const again =
      before !== undefined && before.name === control.name && control.element.getAttribute('tabindex') === '-1';
    if (again && isAround(before.element, control.element)) return false;
    const next = controls[index + 1];
    if (next === undefined) return true;
    if (!clickables.has(control))
      return !isFrameOf(control.element, next.element) || !isAround(control.element, next.element);
    if (!isAround(control.element, next.element)) return true;
    const after = controls[index + 2];
    const single = after === undefined || !isAround(control.element, after.element);
    return next.name !== control.name && !(single && control.name === '');
  });
}

function isAround(outer: Element, inner: Element): boolean {
  for (let node: Element | null = inner; node !== null; node = parentOf(node)) if (node === outer) return true;
  return false;
}
