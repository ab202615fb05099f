/** Whether an element is parked where no scrolling leads: before the beginning of its page. */
export function isParked(
  element: Element,
  { right, bottom }: Pick<DOMRect, 'right' | 'bottom'> = element.getBoundingClientRect(),
): boolean {
  if (right > 0 && bottom > 0) return false;
  const { scrollX = 0, scrollY = 0 } = element.ownerDocument.defaultView ?? {};
  return bottom + scrollY <= 0 || right + scrollX <= leastScroll(element.ownerDocument);
}

/** How far to the left a page can be scrolled, in CSS pixels: a page that is read from the right begins there. */
function leastScroll({ documentElement: root, body }: Document): number {
  const styles = [root, ...(body === null ? [] : [body])].map((one) => getComputedStyle(one));
  if (styles.every(({ direction }) => direction !== 'rtl')) return 0;
  // What hangs out on the left cannot be scrolled to either if the page hides what hangs out.
  if (styles.some(({ overflowX }) => overflowX === 'hidden' || overflowX === 'clip')) return 0;
  return Math.min(0, root.clientWidth - root.scrollWidth);
}
