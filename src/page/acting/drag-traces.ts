import { nextChange } from '../changes.js';
import { foldSpace } from '../locator.js';
import { settled } from '../settled.js';
import { isInside, parentOf, walk } from '../tree/flat-tree.js';
import { isParked } from '../tree/parked.js';

/** Elements beyond this are not compared. */
const MAX_ELEMENTS = 10_000;
/** A longer text is compared by its beginning. */
const MAX_TEXT = 1_000;
/** Items glide to their places within this time, in milliseconds; a page that moves without end is compared as it is then. */
const GLIDE_MS = 1_000;
/** A page that shows nothing of a drag at once may show it by then, in milliseconds. */
const LATE_MS = 250;
/** What is moved by less, in CSS pixels, is where it was: a style may lift what the pointer is above. */
const MOVED_PX = 2;
const LIFTED_PX = 4;

const NOT_DRAWN = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta']);
/** Attributes and words of classes that follow the pointer, the focus or the drag itself. */
const PASSING_WORDS =
  'hover(?:ed|ing)?|focus(?:ed|-visible|-within)?|active|press(?:ed|ing)?|over|drag(?:ging|ged|start|over)?|ghost|touch(?:ed|ing)?|grab(?:bed|bing)?|moving|sorting|highlight(?:ed)?|current|chosen';
const PASSING_CLASS = new RegExp(`(?:^|[-_])(?:${PASSING_WORDS})(?:$|[-_])`, 'i');
const PASSING_ATTRIBUTE = new RegExp(
  `^(?:class|style|id|tabindex|draggable|aria-(?:activedescendant|describedby|grabbed|dropeffect|selected|pressed|current)|data-(?:.*-)?(?:selected|${PASSING_WORDS}))$`,
  'i',
);
const SELECTED_CLASS = /(?:^|[-_])selected(?:$|[-_])/i;
const PASSING_STYLE =
  /^(?:-webkit-)?(?:cursor|user-select|user-drag|touch-action|pointer-events|will-change|transition|animation|z-index|position|outline|tap-highlight|opacity)/;
const PLACING_STYLE =
  /^(?:transform|translate|rotate|scale|left|right|top|bottom|inset|width|height|margin|min-|max-|flex|grid|offset|--)/;

/** An element as it was drawn. */
interface Part {
  readonly element: Element;
  /** All that is left of a drag, but for where it is. */
  readonly kind: string;
  readonly id: string;
  readonly placing: string;
  readonly selected: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Whether anything on the page is left of a drag: something that stands elsewhere, has come or gone, or reads otherwise. What
 * shows only where the pointer and the focus are, and a selection of the pressed item, is no trace. The page is read twice, before and after.
 */
export class DragTraces {
  readonly #element: Element;
  readonly #before = partsOfPage();
  readonly #neighbours: readonly (Element | null)[];
  readonly #address = addressNow();
  #held: ReadonlyMap<Element, string> | null = null;

  constructor(element: Element) {
    this.#element = element;
    this.#neighbours = neighboursOf(element);
  }

  /** Settles once the page is still. @param differs whether anything has changed, this among it */
  async remain(differs: () => boolean): Promise<boolean> {
    const deadline = performance.now() + LATE_MS;
    for (;;) {
      await settled(GLIDE_MS, true);
      if (differs()) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await nextChange(left, 0);
    }
  }

  get isRenamed(): boolean {
    return addressNow() !== this.#address;
  }

  /** Whether the page differs now. */
  get any(): boolean {
    if (this.isRenamed) return true;
    const element = this.#element;
    if (element.isConnected) {
      const now = neighboursOf(element);
      if (now.some((one, at) => one !== this.#neighbours[at])) return true;
    }
    const before = this.#before;
    const now = partsOfPage();
    return now.length !== before.length || now.some((part, at) => this.#isOther(part, before[at]));
  }

  /** To be called while the button is down. */
  hold(): void {
    this.#held = kindsOf(partsOfPage());
  }

  /**
   * Whether the end of the drag has changed anything but the element, and what was there for the drag alone. Where things
   * are is not regarded: what has made room goes back.
   */
  get isChangedByDrop(): boolean {
    const held = this.#held;
    if (held === null) return true;
    const before = kindsOf(this.#before);
    const now = kindsOf(partsOfPage());
    const isOwn = (one: Element): boolean => isInside(one, this.#element);
    for (const [one, kind] of now) if (!isOwn(one) && (held.get(one) ?? before.get(one)) !== kind) return true;
    return [...before.keys()].some((one) => held.has(one) && !now.has(one) && !isOwn(one));
  }

  #isOther(now: Part, before: Part | undefined): boolean {
    if (before === undefined || now.kind !== before.kind) return true;
    // A library gives an id to what has the focus, to refer to it.
    if (now.id !== before.id && now.id !== '' && before.id !== '') return true;
    const dragged = isInside(now.element, this.#element) || isInside(this.#element, now.element);
    if (now.selected && !before.selected && !dragged) return true;
    if (now.placing !== before.placing) return isElsewhere(now, before, MOVED_PX);
    return now.element === this.#element && isElsewhere(middleOf(now), middleOf(before), LIFTED_PX);
  }
}

function kindsOf(parts: readonly Part[]): Map<Element, string> {
  return new Map(parts.map(({ element, kind }) => [element, kind]));
}

/** All that is drawn in an element, but for where it is. */
export function drawnIn(place: Element): string {
  return partsOfPage()
    .filter(({ element }) => isInside(element, place))
    .map(({ kind }) => kind)
    .join('\n');
}

function partsOfPage(): readonly Part[] {
  const parts: Part[] = [];
  walk(document.documentElement, true, (element) => {
    if (parts.length >= MAX_ELEMENTS || NOT_DRAWN.has(element.localName)) return undefined;
    const rect = element.getBoundingClientRect();
    const { left, top, width, height } = rect;
    // A straight line is drawn, too.
    const isFlat = 'ownerSVGElement' in element ? width === 0 && height === 0 : width === 0 || height === 0;
    if (isFlat || isParked(element, rect))
      return element.checkVisibility() || element.localName === 'slot' ? true : undefined;
    if (!element.checkVisibility() || isOnlySpoken(element, width, height) || isUnseen(element)) return undefined;
    const around = parentOf(element)?.getBoundingClientRect();
    const [x, y] = [left - (around?.left ?? 0), top - (around?.top ?? 0)];
    const { style, placing } = stylesOf(element);
    const { classes, selected } = classesOf(element);
    parts.push({
      element,
      kind: [element.localName, attributesOf(element), classes, style, ownText(element)].join('\n'),
      id: element.id,
      placing,
      selected,
      ...{ x, y, width, height },
    });
    return true;
  });
  return parts;
}

/** Whether only screen readers read it out: what has happened, or has not. */
function isOnlySpoken(element: Element, width: number, height: number): boolean {
  if (!element.hasAttribute('aria-live') && !/^(?:status|alert|log)$/.test(element.getAttribute('role') ?? ''))
    return false;
  const { clip, clipPath } = getComputedStyle(element);
  return width <= 1 || height <= 1 || clip !== 'auto' || clipPath !== 'none';
}

/** An empty element that is drawn through: a cover by which a library catches the pointer, and which it may leave there. */
function isUnseen(element: Element): boolean {
  if (element.childElementCount > 0 || element.textContent !== '') return false;
  return !element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

function attributesOf(element: Element): string {
  const written: string[] = [];
  for (const { name, value } of element.attributes) if (!PASSING_ATTRIBUTE.test(name)) written.push(`${name}=${value}`);
  return written.sort().join(' ');
}

function classesOf(element: Element): { readonly classes: string; readonly selected: boolean } {
  const selects = (one: string): boolean => SELECTED_CLASS.test(one);
  const words = [...element.classList];
  const states = ['aria-selected', 'aria-pressed', 'aria-current', 'data-selected'].map((name) =>
    element.getAttribute(name),
  );
  return {
    classes: words
      .filter((one) => !PASSING_CLASS.test(one) && !selects(one))
      .sort()
      .join(' '),
    selected: words.some(selects) || states.some((state) => state !== null && state !== 'false'),
  };
}

function stylesOf(element: Element): { readonly style: string; readonly placing: string } {
  if (!element.hasAttribute('style') || !('style' in element)) return { style: '', placing: '' };
  const own = element.style as CSSStyleDeclaration;
  const [style, placing]: [string[], string[]] = [[], []];
  for (const name of own) {
    if (PASSING_STYLE.test(name)) continue;
    (PLACING_STYLE.test(name) ? placing : style).push(`${name}: ${own.getPropertyValue(name)}`);
  }
  return { style: style.sort().join(), placing: placing.sort().join() };
}

function ownText(element: Element): string {
  let text = '';
  for (let node = element.firstChild; node !== null; node = node.nextSibling)
    if (node.nodeType === 3) text += node.nodeValue;
  return foldSpace(text.slice(0, MAX_TEXT));
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function isElsewhere(now: Box, before: Box, px: number): boolean {
  return (['x', 'y', 'width', 'height'] as const).some((side) => Math.abs(now[side] - before[side]) > px);
}

/** A style may make larger what the pointer is above. */
function middleOf({ x, y, width, height }: Box): Box {
  return { x: x + width / 2, y: y + height / 2, width: 0, height: 0 };
}

/** What comes before an element, and before all that it stands in. */
function neighboursOf(element: Element): readonly (Element | null)[] {
  const found: (Element | null)[] = [];
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    found.push(parentOf(node), node.previousElementSibling);
  }
  return found;
}

function addressNow(): string {
  return `${location.href}\n${document.title}`;
}
