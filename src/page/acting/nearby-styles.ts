/** The part of the page around an element in which styles are compared holds at most so many elements. */
const MAX_NEARBY = 300;
const STYLES = [
  'display',
  'visibility',
  'opacity',
  'transform',
  'color',
  'backgroundColor',
  'backgroundImage',
  'borderColor',
  'boxShadow',
  'filter',
  'textDecorationLine',
  'clipPath',
] as const;
const DRAWN_STYLES = ['content', 'display', 'visibility', 'opacity', 'transform'] as const;

/**
 * How an element and what is around it look, for comparing: menus and hints that a style sheet alone shows on hover stand
 * near what they belong to.
 */
export function nearbyStyles(element: Element): string {
  let root = element;
  for (let up = root.parentElement; up !== null; up = up.parentElement) {
    if (up.getElementsByTagName('*').length > MAX_NEARBY) break;
    root = up;
  }
  const nearby = [root, ...root.getElementsByTagName('*')].slice(0, MAX_NEARBY);
  const animations = element.ownerDocument.getAnimations().length;
  return [animations, ...nearby.map(looksOf)].join('\n');
}

function looksOf(element: Element): string {
  const { x, y, width, height } = element.getBoundingClientRect();
  const own = getComputedStyle(element);
  const looks: unknown[] = [x, y, width, height, ...STYLES.map((name) => own[name])];
  for (const pseudo of ['::before', '::after']) {
    const drawn = getComputedStyle(element, pseudo);
    if (drawn.content !== 'none') looks.push(...DRAWN_STYLES.map((name) => drawn[name]));
  }
  return looks.join();
}
