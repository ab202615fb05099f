/** A rule that shows one thing while the pointer is above another. */
interface HoverRule {
  /** What the pointer must be above. */
  readonly above: string;
  /** What is shown then. */
  readonly shown: string;
}

/** Rules of one sheet, elements of one rule, and rules read at all, beyond which no more are looked at. */
const MAX_RULES = 200;
const MAX_ELEMENTS = 200;
const MAX_READ = 20_000;

const known = new WeakMap<CSSStyleSheet, { readonly length: number; readonly rules: readonly HoverRule[] }>();

/** The elements of a document that show something hidden while the pointer is above them. */
export function revealers(inner: Document): ReadonlySet<Element> {
  const found = new Set<Element>();
  for (const sheet of [...inner.styleSheets, ...inner.adoptedStyleSheets]) {
    for (const { above, shown } of rulesOf(sheet)) {
      const elements = search(inner, above);
      for (let nth = 0; nth < Math.min(elements.length, MAX_ELEMENTS); nth++) {
        const element = elements[nth];
        if (element !== undefined && hides(element, inner, shown)) found.add(element);
      }
    }
  }
  return found;
}

function hides(element: Element, inner: Document, shown: string): boolean {
  for (const one of search(inner, shown)) {
    if (element === one || !(element.contains(one) || element.parentElement?.contains(one))) continue;
    // What is only drawn through can be operated where it is, and is listed itself.
    if (!one.checkVisibility({ visibilityProperty: true })) return true;
  }
  return false;
}

function search(inner: Document, selector: string): NodeListOf<Element> | readonly Element[] {
  try {
    return inner.querySelectorAll(selector);
  } catch {
    return [];
  }
}

function rulesOf(sheet: CSSStyleSheet): readonly HoverRule[] {
  let list: CSSRuleList;
  try {
    list = sheet.cssRules;
  } catch {
    // Another origin's sheet keeps its rules to itself.
    return [];
  }
  const before = known.get(sheet);
  if (before?.length === list.length) return before.rules;
  const rules: HoverRule[] = [];
  for (let nth = 0; nth < Math.min(list.length, MAX_READ) && rules.length < MAX_RULES; nth++) {
    const rule = list[nth];
    if (rule === undefined || !('selectorText' in rule)) continue;
    const { selectorText, style } = rule as CSSStyleRule;
    if (!selectorText.includes(':hover')) continue;
    const shows = style.display !== '' || style.visibility !== '';
    if (shows) for (const one of selectorText.split(',')) rules.push(...ruleOf(one.trim()));
  }
  known.set(sheet, { length: list.length, rules });
  return rules;
}

/** `.figure:hover .caption`: the caption is shown while the pointer is above the figure. */
function ruleOf(selector: string): readonly HoverRule[] {
  const parts = /^(.*?):hover(\s*[ >+~].+)$/.exec(selector);
  const [, above = '', rest = ''] = parts ?? [];
  if (parts === null || above === '' || rest.includes(':hover')) return [];
  return [{ above, shown: above + rest }];
}

let turn: { readonly inner: Document; readonly found: ReadonlySet<Element> } | null = null;

/** Whether an element shows something hidden while the pointer is above it. Searched for once a turn. */
export function reveals(element: Element): boolean {
  return foundIn(element.ownerDocument).has(element);
}

/** Whether any element of an element's document does. */
export function anyReveals(element: Element): boolean {
  return foundIn(element.ownerDocument).size > 0;
}

function foundIn(inner: Document): ReadonlySet<Element> {
  if (turn === null) {
    queueMicrotask(() => {
      turn = null;
    });
  }
  if (turn?.inner !== inner) turn = { inner, found: revealers(inner) };
  return turn.found;
}
