/** Ids that a library makes anew each time a page is drawn. */
const MADE = /\d{3,}|^[:\d]|[:»«]/;
const MAX_STEPS = 20;

/** A CSS path to an element from the nearest stable id, within its document or shadow root. */
export function cssPath(element: Element): string {
  const root = element.getRootNode() as Document | ShadowRoot;
  const steps: string[] = [];
  for (let node: Element | null = element; node !== null && steps.length < MAX_STEPS; node = node.parentElement) {
    if (node.id !== '' && !MADE.test(node.id)) {
      const byId = `#${CSS.escape(node.id)}`;
      if (root.querySelectorAll(byId).length === 1) return [byId, ...steps].join(' > ');
    }
    steps.unshift(stepTo(node));
  }
  return steps.join(' > ');
}

function stepTo(element: Element): string {
  const name = CSS.escape(element.localName);
  const alike = [...(element.parentNode?.children ?? [])].filter((one) => one.localName === element.localName);
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}
