import { isFrame } from './flat-tree.js';
import { clippedRegion, isIn, type Region } from './sight.js';

/** What holds for the children of an element. */
export interface Around {
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

/** Fixed and absolutely placed elements are clipped by other boxes than those around them. */
export function regionsOf({ position }: CSSStyleDeclaration, around: Around): Around {
  if (position === 'static' || position === 'relative' || position === 'sticky') return around;
  const region = position === 'fixed' ? fixedRegion(around.view) : around.placed;
  return region === around.region ? around : { ...around, region };
}

/** The region around an element. Most pages clip little and fix less: then nobody has to ask for its style. */
export function regionAround(element: Element, around: Around): Region {
  // What is fixed has no parent to be placed in, nor has what is not HTML.
  const flows = around.region === around.placed && (element as Partial<HTMLElement>).offsetParent != null;
  return flows ? around.region : regionsOf(getComputedStyle(element), around).region;
}

function fixedRegion(view: Region): Region {
  return view.scrollsX || view.scrollsY ? { ...view, scrollsX: false, scrollsY: false } : view;
}

export function clipped(element: Element, style: CSSStyleDeclaration, around: Around): Around {
  // Of a frame's own document the frame shows what it shows by itself.
  if (isFrame(element)) return around;
  // Nothing clips along one axis alone but by `clip`.
  const clips = style.overflowX !== 'visible' || style.overflowY === 'clip';
  if (!clips && around.placed === around.region) return around;
  // What the page's root and body say holds for the viewport.
  const own =
    clips && style.display !== 'inline' && style.display !== 'contents' && !/^(html|body)$/.test(element.localName);
  const region = own ? clippedRegion(element, style, around.region) : around.region;
  const holdsPlaced = style.position !== 'static' || style.transform !== 'none';
  if (region === around.region && !holdsPlaced) return around;
  return { ...around, region, placed: holdsPlaced ? region : around.placed };
}

/** What of a frame's own viewport can be seen, in its coordinates. */
export function seenInFrame(frame: Element, region: Region) {
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
