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

/** What one sheet says of the pointer. */
interface SheetRules {
  /** How many rules the sheet had. */
  readonly length: number;
  readonly rules: readonly HoverRule[];
  /** Of elements that show a hand as the pointer while it is above them, and only then. */
  readonly pointed: readonly string[];
}

const known = new WeakMap<CSSStyleSheet, SheetRules>();

/** The elements of a document that show something hidden while the pointer is above them. */
export function revealers(inner: Document): ReadonlySet<Element> {
  const found = new Set<Element>();
  for (const sheet of [...inner.styleSheets, ...inner.adoptedStyleSheets]) {
    for (const { above, shown } of rulesOf(sheet).rules) {
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

function rulesOf(sheet: CSSStyleSheet): SheetRules {
  let list: CSSRuleList;
  try {
    list = sheet.cssRules;
  } catch {
    // Another origin's sheet keeps its rules to itself.
    return NO_RULES;
  }
  const before = known.get(sheet);
  if (before?.length === list.length) return before;
  const rules: HoverRule[] = [];
  const pointed: string[] = [];
  for (let nth = 0; nth < Math.min(list.length, MAX_READ); nth++) {
    const rule = list[nth];
    if (rule === undefined || !('selectorText' in rule)) continue;
    const { selectorText, style } = rule as CSSStyleRule;
    if (!selectorText.includes(':hover')) continue;
    const shows = rules.length < MAX_RULES && (style.display !== '' || style.visibility !== '');
    if (shows) for (const one of selectorText.split(',')) rules.push(...ruleOf(one.trim()));
    if (style.cursor === 'pointer' && pointed.length < MAX_RULES) pointed.push(...ownHover(selectorText));
  }
  const read = { length: list.length, rules, pointed };
  known.set(sheet, read);
  return read;
}

const NO_RULES: SheetRules = { length: 0, rules: [], pointed: [] };

/** `.day:not(.off):hover` without what it says of the pointer; nothing if the pointer is above something else. */
function ownHover(selectors: string): readonly string[] {
  // One with a comma in its brackets cannot be taken apart at its commas.
  const each = /\([^)]*,/.test(selectors) ? [selectors] : selectors.split(',');
  return each.flatMap((one) => {
    const selector = one.trim();
    const last = /[^\s>+~]*$/.exec(selector)?.[0] ?? '';
    const isOwn = last.includes(':hover') && selector.indexOf(':hover') === selector.lastIndexOf(':hover');
    const rest = selector.replace(':hover', '');
    return isOwn && rest !== '' && !rest.includes(':not()') ? [rest] : [];
  });
}

/** `.figure:hover .caption`: the caption is shown while the pointer is above the figure. */
function ruleOf(selector: string): readonly HoverRule[] {
  const parts = /^(.*?):hover(\s*[ >+~].+)$/s.exec(selector);
  const [, above = '', rest = ''] = parts ?? [];
  if (parts === null || above === '' || rest.includes(':hover')) return [];
  return [{ above, shown: above + rest }];
}

/** What the sheets of a document say of its elements. */
interface Hovers {
  readonly revealing: ReadonlySet<Element>;
  readonly pointed: ReadonlySet<Element>;
}

/** By document. Known for one turn, in which nothing changes. */
const turn = new Map<Document, Hovers>();

/** Whether an element shows something hidden while the pointer is above it. Searched for once a turn. */
export function reveals(element: Element): boolean {
  return hoversIn(element.ownerDocument).revealing.has(element);
}

/** Whether any element of an element's document does. */
export function anyReveals(element: Element): boolean {
  return hoversIn(element.ownerDocument).revealing.size > 0;
}

/** Whether an element shows a hand as the pointer while it is above the element, and only then. Searched for once a turn. */
export function isPointedAt(element: Element): boolean {
  return hoversIn(element.ownerDocument).pointed.has(element);
}

function pointedIn(inner: Document): ReadonlySet<Element> {
  const pointed = new Set<Element>();
  for (const sheet of [...inner.styleSheets, ...inner.adoptedStyleSheets]) {
    for (const selector of rulesOf(sheet).pointed) for (const one of search(inner, selector)) pointed.add(one);
  }
  return pointed;
}

function hoversIn(inner: Document): Hovers {
  const known = turn.get(inner);
  if (known !== undefined) return known;
  if (turn.size === 0) queueMicrotask(() => turn.clear());
  const hovers = { revealing: revealers(inner), pointed: pointedIn(inner) };
  turn.set(inner, hovers);
  return hovers;
}
