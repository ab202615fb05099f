import { parentOf } from './flat-tree.js';

/** Where an element is painted, as far as what it and another stand in together goes. */
interface Layer {
  /** Of the elements around it, the outermost that does not hold the other one too. */
  readonly branch: Element;
  /** The `z-index` that counts there; null: it is painted with the text around it. */
  readonly level: number | null;
  /** Whether it is placed on its own, as what lies over a page is: `fixed`, `absolute`, or in the browser's top layer. */
  readonly isPlaced: boolean;
}

/** In front of every `z-index`. */
const TOP = Number.POSITIVE_INFINITY;

/**
 * Whether an element belongs to something that lies over another by its styles, as a list of options or a message does that is
 * drawn over a dialog. False for what is inside the other.
 */
export function isLayerOver(element: Element, base: Element): boolean {
  const path = pathTo(element);
  const basePath = pathTo(base);
  let common = 0;
  while (common < path.length && path[common] === basePath[common]) common++;
  const layer = layerOf(path.slice(common));
  const under = layerOf(basePath.slice(common));
  if (layer === null || under === null || !layer.isPlaced) return false;
  const [level, baseLevel] = [layer.level ?? 0, under.level ?? -1];
  if (level !== baseLevel) return level > baseLevel;
  // 4: it comes later in the document.
  return (under.branch.compareDocumentPosition(layer.branch) & 4) !== 0;
}

function pathTo(element: Element): Element[] {
  const path: Element[] = [];
  for (let node: Element | null = element; node !== null; node = parentOf(node)) path.push(node);
  return path.reverse();
}

/** The first stacking context counts for all that is in it. */
function layerOf(path: readonly Element[]): Layer | null {
  const [branch] = path;
  if (branch === undefined) return null;
  const styles = path.map((node) => getComputedStyle(node));
  if (path.some((node) => node.matches(':popover-open, :modal, :fullscreen')))
    return { branch, level: TOP, isPlaced: true };
  const isPlaced = styles.some(({ position }) => position === 'fixed' || position === 'absolute');
  const context = path.findIndex((node, index) => isStackingContext(node, styles[index] as CSSStyleDeclaration));
  if (context >= 0) return { branch, level: Number(styles[context]?.zIndex) || 0, isPlaced };
  return { branch, level: styles.some(({ position }) => position !== 'static') ? 0 : null, isPlaced };
}

/** https://developer.mozilla.org/docs/Web/CSS/CSS_positioned_layout/Stacking_context, as far as pages use it. */
function isStackingContext(element: Element, style: CSSStyleDeclaration): boolean {
  const { position, zIndex, opacity, transform, filter, isolation, willChange } = style;
  if (position === 'fixed' || position === 'sticky') return true;
  if (zIndex !== 'auto') {
    const around = parentOf(element);
    if (position !== 'static' || (around !== null && /flex|grid/.test(getComputedStyle(around).display))) return true;
  }
  return (
    Number(opacity) < 1 ||
    transform !== 'none' ||
    filter !== 'none' ||
    isolation === 'isolate' ||
    /transform|opacity|filter/.test(willChange)
  );
}
