import { pageChanges } from '../changes.js';
import { DOUBLE, DROP } from '../event-kinds.js';
import { answersTo, inputKind, isAtomic, isControl, roleOf } from '../names/roles.js';
import { isBoxless } from '../tree/boxless.js';
import { frameDocument, isFrame, isHtml, isLeaf, mayBeFrame, parentOf, shadowOf, walk } from '../tree/flat-tree.js';
import { childNodesIn } from '../tree/form-members.js';
import { labelsOf, namedBy } from '../tree/labels.js';
import { isParked } from '../tree/parked.js';
import { characterBoxesOf, drawingOf, hasEditContext } from '../tree/self-drawn.js';
import { isVeil, Sight, type Whereabouts } from '../tree/sight.js';
import {
  clipsAll,
  drawnRect,
  isCutAway,
  isFolded,
  isPutAway,
  isSeen,
  isShown,
  isSolid,
  type Rect,
  rectOf,
  thumbOf,
} from '../tree/visibility.js';
import { isTag } from './carried.js';
import { type Clickable, clickableOf, isOwnPart, isTile } from './clickables.js';
import { Control, type Place } from './control.js';
import { discoveries } from './discoveries.js';
import { isPointedAt } from './hover-rules.js';
import { itemsOf } from './items.js';
import { Modals } from './modals.js';
import { isOwnRow } from './own-rows.js';
import { beginMarkup, reactionsOf, readMarkup } from './reactions.js';
import { dependsOnOthers, holdsControls, withoutDrawings, withoutFrames, withoutWrappers } from './wrappers.js';

const IGNORED = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta', 'br', 'wbr']);

/** What is no target of its own, though a cursor or a listener says so. */
const NO_TARGETS = new Set(['body', 'html', 'label', 'option', 'slot']);

/** What shows something without holding anything. */
const PICTURES = new Set(['canvas', 'embed', 'img', 'object', 'svg', 'video']);

/** A smaller field may be one that its page has put away, and what is pressed in its place drawn beside it, in CSS pixels. */
const TINY = 4;
/** A field that is broader has room for a character inside its borders, in CSS pixels. */
const ROOM = 40;

/** What a library draws in the place of a check box or a radio button. */
const BOXES = '[role="checkbox"], [role="radio"], [role="switch"]';

/** A frame of another origin: its controls stand after so many of this document's. */
export interface FrameGap {
  readonly at: number;
  readonly frame: Element;
  readonly isInert: boolean;
  /** Finds out where the frame is, in the turn in which it was found. */
  readonly whereabouts: () => Whereabouts;
}

export interface Collected {
  readonly controls: readonly Control[];
  /** Those that are inert: they can be read, and not used. Empty unless they were wanted. */
  readonly inert: readonly Control[];
  readonly gaps: readonly FrameGap[];
}

/** Which controls a walk is for. */
export interface Wanted {
  /** A word by which they are called; `*`: all. */
  readonly word: string;
  /** Further, those that it holds for. It may be asked of what is not rendered, too. */
  readonly fits: (control: Control) => boolean;
  /** Inert ones are told, too. */
  readonly inert: boolean;
  /** Elements are taken by their word that say by `aria-modal` that what lies behind them is inert. */
  readonly takesWord: boolean;
}

/** What holds for the children of an element. */
interface Around {
  /** Inside an element whose cursor is a pointer. */
  readonly pointer: boolean;
  /** Inside an element that listens for presses. */
  readonly listened: boolean;
  /** The control around it. */
  readonly control: Element | null;
  /** The innermost of what may be listed around it. */
  readonly candidate: Control | null;
  /** Inside a box of no size that shows nothing of what flows over. */
  readonly folds: boolean;
}

const NOTHING_AROUND: Around = { pointer: false, listened: false, control: null, candidate: null, folds: false };
/** Styles are not asked for: whether a box hides what is in it is asked of that. */
const UNKNOWN_AROUND: Around = { ...NOTHING_AROUND, folds: true };

/**
 * One walk through the documents that can be reached from here, for what is rendered that a person can operate, wherever it is:
 * in view or not, covered or not. What is inert is left out.
 */
export class Collector {
  readonly #sight = new Sight();
  /** What may be listed, if it is rendered. */
  readonly #candidates: Control[] = [];
  /** Of these, those that stand in others or hold others. */
  readonly #nested = new Set<Control>();
  readonly #gaps: FrameGap[] = [];
  /** Those that only a style or a listener makes controls. */
  readonly #clickables = new Set<Control>();
  /** Of these, those that only listen. */
  readonly #listeners = new Set<Control>();
  /** Children of an element that listens for them. */
  readonly #items = new Set<Element>();
  /** What is operated in the place of a field that is out of sight. */
  readonly #drawings = new Set<Element>();
  readonly #modals: Modals;
  readonly #wanted: Wanted;
  readonly #word: string;
  /** An attribute makes something inert. */
  #hasInert = false;
  /** The word may call what only a style or a listener makes a control. */
  #isUnsure = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#word = wanted.word;
    this.#modals = new Modals(wanted.takesWord, this.#sight);
  }

  /** Null for a word, if styles and listeners have a say in what it calls. */
  collect(): Collected | null {
    // A script may have removed it.
    const root: Element | null = document.documentElement;
    if (root === null) return { controls: [], inert: [], gaps: [] };
    if (this.#word === '*') beginMarkup();
    walk(root, this.#word === '*' ? NOTHING_AROUND : UNKNOWN_AROUND, (element, around) => this.#visit(element, around));
    if (this.#isUnsure) return null;
    const free: Control[] = [];
    const inert: Control[] = [];
    for (const one of this.#candidates) (this.#isInert(one.element) ? inert : free).push(one);
    if (this.#word === '*') return this.#collected(this.#listed(free), this.#wanted.inert ? this.#listed(inert) : []);
    const [usable, others] = [free, inert].map((all) => all.filter((one) => this.#isCalled(one)));
    if (usable === undefined || others === undefined) return null;
    const depends = (one: Control): boolean => this.#nested.has(one) || dependsOnOthers(one);
    if (usable.some(depends) || others.some(depends)) return null;
    return this.#collected(usable.filter(isRendered), others.filter(isRendered));
  }

  #isInert(element: Element): boolean {
    return (this.#hasInert ? this.#modals.inertness(element) : this.#modals.over(element)) !== null;
  }

  #isCalled(one: Control): boolean {
    return one.words.includes(this.#word) && this.#wanted.fits(one);
  }

  #listed(candidates: readonly Control[]): readonly Control[] {
    const open = withoutDrawings(candidates.filter(isRendered), this.#clickables, this.#drawings);
    const listed = withoutFrames(withoutWrappers(open, this.#clickables), this.#listeners, this.#clickables);
    return listed.filter(this.#wanted.fits);
  }

  #visit(element: Element, around: Around): Around | undefined {
    const tag = element.localName;
    if (IGNORED.has(tag)) return undefined;
    if (element.hasAttribute('inert')) this.#hasInert = true;
    if (tag === 'area') {
      if (isControl(element)) this.#add(element, around, () => this.#itself(element, seenRect(element)));
      return undefined;
    }
    const operable = isControl(element);
    const leaf = isLeaf(element);
    if (operable && leaf) {
      if (!isPart(element, around.control)) this.#add(element, around, () => this.#placeOf(element, around));
      return undefined;
    }
    if (!element.checkVisibility() && !isBoxless(element)) {
      if (tag === 'button' && !isPart(element, around.control))
        this.#add(element, around, () => this.#putAway(element, null));
      return undefined;
    }
    this.#modals.note(element);
    if (this.#word !== '*') return this.#visitByNature(element, around, operable, leaf);
    const isHidden = around.folds && isFolded(element);
    const style = getComputedStyle(element);
    let { pointer, listened, control, candidate } = around;
    if (operable) {
      if (!isPart(element, control)) candidate = this.#add(element, around, () => this.#placeOf(element, around));
      pointer = true;
      control = element;
    } else if (control === null && !isHidden) {
      pointer = style.cursor === 'pointer' || (around.pointer && style.cursor === 'auto') || isPointedAt(element);
      const clickable = clickableOf(element, style, around);
      if (clickable !== null || this.#items.has(element)) {
        candidate = this.#addClickable(element, clickable, around) ?? candidate;
        if (clickable?.listens === true && tag !== 'body' && tag !== 'html') listened = true;
      }
    } else if (control !== null && !isHidden && isOwnPart(element, control, listened)) {
      const rect = seenRect(element);
      if (rect !== null) {
        candidate = this.#add(element, around, () => this.#itself(element, rect));
        this.#clickables.add(candidate);
      }
    }
    if (leaf) return undefined;
    const folds = around.folds || clipsAll(element, style);
    const same =
      pointer === around.pointer &&
      listened === around.listened &&
      control === around.control &&
      candidate === around.candidate &&
      folds === around.folds;
    return this.#inside(element, same ? around : { pointer, listened, control, candidate, folds });
  }

  /** Goes through what no style and no listener makes a control. */
  #visitByNature(element: Element, around: Around, operable: boolean, leaf: boolean): Around | undefined {
    if (!operable) {
      if (answersTo(element, this.#word)) this.#isUnsure = true;
      return leaf || this.#isUnsure ? undefined : this.#inside(element, around);
    }
    const isOwn = !isPart(element, around.control);
    const candidate = isOwn ? this.#add(element, around, () => this.#placeOf(element, around)) : around.candidate;
    return this.#inside(element, { ...around, control: element, candidate });
  }

  /** Goes on into a shadow root or a frame. */
  #inside(element: Element, around: Around): Around | undefined {
    const shadow = shadowOf(element);
    if (shadow !== null) {
      pageChanges.observe(shadow);
      if (this.#word === '*') readMarkup(shadow);
    }
    if (!mayBeFrame(element) || !isFrame(element)) return around;
    const inner = frameDocument(element);
    if (element.clientWidth === 0 || element.clientHeight === 0) return undefined;
    if ((around.folds && isFolded(element)) || !isShown(element)) return undefined;
    if (inner === null) {
      const whereabouts = () => this.#sight.whereIs(element, element);
      this.#gaps.push({ at: this.#candidates.length, frame: element, isInert: false, whereabouts });
      return undefined;
    }
    const { defaultView } = inner;
    if (defaultView === null) return undefined;
    discoveries()?.ask(defaultView, pageChanges.mutations);
    pageChanges.observe(inner);
    // A document that has just come is empty: what it gets is noticed.
    if (inner.documentElement === null) return undefined;
    if (this.#word === '*') readMarkup(inner);
    return { ...(this.#word === '*' ? NOTHING_AROUND : UNKNOWN_AROUND), candidate: around.candidate };
  }

  #placeOf(element: Element, around: Around): Place | null {
    if (around.folds && isFolded(element)) return this.#putAway(element, null);
    const solid = isSolid(element);
    const isDrawn = solid || element.checkVisibility() || isBoxless(element);
    if (!isDrawn && element.localName !== 'input' && element.localName !== 'button') return null;
    const rect = seenRect(element, solid);
    if (rect === null || hasNoRoom(element, rect)) return this.#putAway(element, null);
    if (solid && !mayBePutAway(element, rect)) return this.#itself(element, rect);
    // Neither to be seen nor to be hit.
    const fadedOut = !solid && getComputedStyle(element).pointerEvents === 'none';
    const isCut = isPutAway(element) && isCutAway(element, rect);
    return this.#putAway(element, fadedOut || isCut ? null : rect);
  }

  /**
   * The place of what its page has put away, or may have: a person reaches an input by its label or the button beside it, an
   * editor by its text.
   *
   * @param own where it is drawn itself, though perhaps under what is drawn in its place; null: nowhere
   */
  #putAway(element: Element, own: Rect | null): Place | null {
    const stands: Element[] = own === null ? [] : [element];
    const isAway = isPutAway(element);
    if (isAway && own === null && (element.disabled || isDouble(element))) return null;
    if (isAway && !element.disabled) {
      for (const label of labelsOf(element)) if (isShown(label)) stands.push(label);
      const thumb = element.type === 'range' ? thumbOf(element) : null;
      if (thumb !== null && isShown(thumb)) stands.push(thumb);
    }
    const drawing = drawingOf(element);
    if (drawing !== null && isShown(drawing)) {
      // What is pressed in its place is no other control.
      if (own !== null || stands.length === 0) this.#drawings.add(drawing);
      for (const box of characterBoxesOf(element)) this.#drawings.add(box);
      stands.push(drawing);
    }
    const isFile = isAway && element.type === 'file' && parentOf(element)?.checkVisibility() === true;
    const [first] = stands;
    const rect = own ?? (first === undefined ? null : drawnRect(first));
    if (rect === null && !isFile) return null;
    return this.#placeBy(element, rect ?? rectOf(element), stands, isFile);
  }

  /** @param why null: a listener on what it stands in is for it */
  #addClickable(element: Element, why: Clickable | null, around: Around): Control | null {
    const tag = element.localName;
    const double = tag === 'label' && (reactionsOf(element) & DOUBLE) !== 0;
    if ((NO_TARGETS.has(tag) && !double) || isAroundLabel(element) || isInLabel(element, why)) return null;
    const sure = why === null || why.sure || this.#items.has(element);
    if (!sure && ((why.listens && isLabel(element)) || showsPanels(element))) return null;
    const items = why?.listens === true && why.sure === false ? itemsOf(element) : [];
    for (const item of items) this.#items.add(item);
    const drops = (reactionsOf(element) & DROP) !== 0;
    if (items.length > 0 && !(drops && why?.otherwise === true)) return null;
    // A listener on a container is for what is in it; but what is carried is dropped on the container itself.
    const holds = element.childElementCount > 0 || shadowOf(element) !== null;
    const forOthers = !sure && !(drops && why.otherwise) && holds && holdsControls(element);
    const isOwn = forOthers && isOwnRow(element);
    if (forOthers && !isOwn && !(why.listens ? isTile(element) : isTag(element))) return null;
    const rect = seenRect(element);
    if (rect === null) return null;
    // What lies under a dialog, to catch the clicks beside it.
    const empty = childNodesIn(element).length === 0 && !PICTURES.has(element.localName);
    if (empty && isVeil(rect, element.ownerDocument)) return null;
    const control = this.#add(element, around, () => this.#itself(element, rect));
    this.#clickables.add(control);
    const several = roleOf(element) !== 'row' && tag !== 'tr' && !drops;
    if (!sure && several && !isOwn && !isTile(element)) this.#listeners.add(control);
    return control;
  }

  #add(element: Element, around: Around, locate: () => Place | null): Control {
    const control = new Control(element, locate);
    this.#candidates.push(control);
    if (around.candidate !== null) this.#nested.add(control).add(around.candidate);
    return control;
  }

  /** Drawn itself, if anything is. */
  #itself(element: Element, rect: Rect | null): Place | null {
    return rect === null ? null : this.#placeBy(element, rect, [element]);
  }

  /**
   * @param stands by which it can be pointed at: itself, or what is drawn in its place; the first is where `rect` says
   * @param anyhow it can be operated without being pointed at
   */
  #placeBy(element: Element, rect: Rect, stands: readonly Element[], anyhow = false): Place {
    const find = (): Whereabouts => {
      for (const [nth, shown] of stands.entries()) {
        const is = this.#sight.whereIs(element, shown, nth === 0 ? rect : drawnRect(shown));
        if (is !== 'unreachable') return is;
      }
      return anyhow ? 'here' : 'unreachable';
    };
    return { rect, find, isHit: () => this.#sight.isHit(element) };
  }

  #collected(controls: readonly Control[], inert: readonly Control[]): Collected {
    const all = this.#gaps.map((gap) => ({ ...gap, isInert: this.#isInert(gap.frame) }));
    const gaps = this.#wanted.inert ? all : all.filter(({ isInert }) => !isInert);
    if (gaps.length === 0) return { controls, inert, gaps };
    const kept = new Set(controls);
    // How many of the controls before each place are left.
    let left = 0;
    const before = [0, ...this.#candidates.map((control) => (kept.has(control) ? ++left : left))];
    return { controls, inert, gaps: gaps.map((gap) => ({ ...gap, at: before[gap.at] ?? left })) };
  }
}

function isRendered(control: Control): boolean {
  return control.isRendered;
}

/** @param solid it is drawn, and not drawn through */
function seenRect(element: Element, solid = false): Rect | null {
  return solid || isSeen(element) ? drawnRect(element) : null;
}

/** Whether something else may be drawn for an element that is drawn itself. */
function mayBePutAway(element: Element, rect: Rect): boolean {
  const { width, height } = rect;
  if (element.localName === 'textarea' || isPutAway(element) || hasEditContext(element)) return true;
  return width < TINY || height < TINY || (element.localName === 'input' && isParked(element, rect));
}

/**
 * Whether an input is only for forms: the page says that nobody meets it, and has drawn a box of its own in its label, which is
 * pressed.
 */
function isDouble(element: Element): boolean {
  if (element.getAttribute('aria-hidden') !== 'true') return false;
  return labelsOf(element).some((label) =>
    [...label.querySelectorAll(BOXES)].some((box) => box !== element && isShown(box)),
  );
}

/** Whether a field has no room for a character: its library shows its value in another way. */
function hasNoRoom(element: Element, { width }: Rect): boolean {
  if (element.localName !== 'input' || width > ROOM) return false;
  return element.clientWidth === 0 && element.clientHeight === 0 && inputKind(element) === 'typed';
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
