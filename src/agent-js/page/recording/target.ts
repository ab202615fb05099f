import type { RecordedTarget } from '../../../protocol/recording/recorded-act.js';
import { foldSpace, formatLocator } from '../../locating/locator.js';
import { uniqueLocators } from '../../locating/unique-locators.js';
import { isProblem } from '../../tabs/page-calls.js';
import { isPassword } from '../acting/field.js';
import type { Control } from '../controls/control.js';
import { collect, collectCovered } from '../controls/controls.js';
import { accessibleName, drawnText } from '../names/accessible-name.js';
import { isControl, naturalRole, roleOf } from '../names/roles.js';
import { matchesOf, resolve } from '../resolve.js';
import { frameOf, isHtml, isInside, parentOf } from '../tree/flat-tree.js';
import { isVisible } from '../tree/visibility.js';
import { cssPath } from './css-path.js';

/** A longer text is no name of an element. */
const MAX_TEXT = 80;
/** What is larger than this is no button, in CSS pixels. */
const LARGE = 60;
/** Elements that are one picture: where they are clicked matters. */
const PICTURES = new Set(['canvas', 'svg', 'img', 'video', 'embed', 'object']);

/** Roles that other tools know, of things that people operate. */
const ROLES = new Set([
  ...['button', 'checkbox', 'combobox', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option'],
  ...['radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem'],
]);

/** What a person acted on: the element by which a flow acts on it, and how a flow calls that. */
export interface Target {
  readonly element: Element;
  readonly recorded: RecordedTarget;
  /** A point of it matters: it is a picture, or much more than what was hit. */
  readonly pointed: boolean;
}

/** What a press on `hit` is a press on. */
export function targetAt(hit: Element): Target {
  const { controls } = collect();
  const control =
    controlAround(hit, controls) ??
    controlAround(
      hit,
      collectCovered(() => true),
    );
  if (control === undefined) return plainTarget(hit);
  const { element } = control;
  if (element === hit || isPart(hit, element)) return targetOfControl(control, controls, isPlace(element));
  // Something large that listens for clicks on what is in it.
  const inner = plainTarget(hit);
  return inner.recorded.locator.startsWith('{') && isShortText(hit) ? inner : targetOfControl(control, controls, true);
}

/** An element by itself: what has the focus, or was changed. */
export function targetOf(element: Element): Target {
  const { controls } = collect();
  const control =
    controls.find((one) => one.element === element) ??
    collectCovered((one) => one.element === element).find((one) => one.element === element);
  return control === undefined ? plainTarget(element) : targetOfControl(control, controls, isPicture(element));
}

/** What an assertion speaks of: an element by its place rather than by the text that is asserted. */
export function targetToAssert(hit: Element): Target {
  const { controls } = collect();
  const control = controlAround(hit, controls);
  if (control !== undefined && (control.element === hit || isPart(hit, control.element))) {
    return targetOfControl(control, controls, false);
  }
  const css = cssPath(hit);
  if (css.startsWith('#') && !css.includes(' ') && means(css, hit)) return made(hit, css);
  const numbered = numberedLocator(hit);
  return numbered === null ? plainTarget(hit) : made(hit, numbered);
}

/** What the pointer is above: more is shown in it by now, which is not to be part of its name. */
export function targetToHover(element: Element): Target {
  const own = foldSpace([...element.childNodes].map((node) => (node.nodeType === 3 ? node.textContent : '')).join(' '));
  const locator = formatLocator({ role: roleOf(element), text: own, contains: true });
  if (own !== '' && own.length <= MAX_TEXT && means(locator, element)) return made(element, locator);
  const css = cssPath(element);
  return means(css, element) ? made(element, css) : targetOf(element);
}

/** The innermost control that holds an element, or that it labels. */
function controlAround(hit: Element, controls: readonly Control[]): Control | undefined {
  const byElement = new Map(controls.map((control) => [control.element, control]));
  for (let node: Element | null = hit; node !== null; node = parentOf(node)) {
    const control = byElement.get(node);
    if (control !== undefined) return control;
    if (isHtml(node, 'label') && node.control !== null) {
      const labelled = byElement.get(node.control);
      if (labelled !== undefined) return labelled;
    }
  }
  return undefined;
}

/** Whether a click in the middle of the control is the same as one on what was hit. */
function isPart(hit: Element, control: Element): boolean {
  if (!isInside(hit, control)) return true;
  if (isControl(control)) return true;
  const [inner, outer] = [hit.getBoundingClientRect(), control.getBoundingClientRect()];
  const x = outer.left + outer.width / 2;
  const y = outer.top + outer.height / 2;
  return inner.left <= x && x <= inner.right && inner.top <= y && y <= inner.bottom;
}

function isPicture(element: Element): boolean {
  return PICTURES.has(element.localName) || roleOf(element) === 'img' || roleOf(element) === 'application';
}

/** A picture, or a bar without words: where it is clicked matters. */
function isPlace(element: Element): boolean {
  if (isPicture(element)) return true;
  const { width, height } = element.getBoundingClientRect();
  return !isControl(element) && Math.max(width, height) > LARGE && drawnText(element).trim() === '';
}

function isShortText(element: Element): boolean {
  const text = foldSpace(drawnText(element));
  return text !== '' && text.length <= MAX_TEXT;
}

function targetOfControl(control: Control, controls: readonly Control[], pointed: boolean): Target {
  const { element } = control;
  const at = controls.indexOf(control);
  const locator = at < 0 ? formatLocator({ role: control.role, text: control.name }) : uniqueLocators(controls)[at];
  const found = locator !== undefined && means(locator, element) ? locator : fallback(element);
  return { ...made(element, found, controls), pointed };
}

function plainTarget(element: Element): Target {
  return { ...made(element, fallback(element)), pointed: isPicture(element) };
}

function made(element: Element, locator: string, controls: readonly Control[] = []): Target {
  const frames: string[] = [];
  let outer = element.ownerDocument;
  for (let frame = frameOf(outer); frame !== null; frame = frameOf(outer)) {
    frames.unshift(cssPath(frame));
    outer = frame.ownerDocument;
  }
  const apart = outer.defaultView !== outer.defaultView?.parent;
  const byRole = roleAndName(element, controls);
  return { element, recorded: { locator, byRole, css: cssPath(element), frames, apart }, pointed: false };
}

/** As other tools find it: by what the page says that it is, and not by what it looks like. */
function roleAndName(element: Element, controls: readonly Control[]): RecordedTarget['byRole'] {
  const role = naturalOf(element);
  const name = foldSpace(accessibleName(element));
  // A password field has no role.
  if (!ROLES.has(role) || name === '' || name.length > MAX_TEXT || isPassword(element)) return null;
  const alike = controls.filter(
    (one) => naturalOf(one.element) === role && foldSpace(accessibleName(one.element)) === name,
  );
  const nth = alike.findIndex((one) => one.element === element);
  if (nth < 0) return null;
  return { role, name, nth: alike.length > 1 ? nth : null };
}

function naturalOf(element: Element): string {
  const role = roleOf(element);
  return role === element.localName ? naturalRole(element) : role;
}

/** A locator for what is no control, or has no name of its own: by its text, its number, or its place. */
function fallback(element: Element): string {
  const role = roleOf(element);
  if (element.localName === 'body' || element.localName === 'html') return '{body}';
  for (const text of [foldSpace(accessibleName(element)), foldSpace(drawnText(element))]) {
    if (text === '' || text.length > MAX_TEXT) continue;
    const locator = formatLocator({ role, text });
    if (means(locator, element)) return locator;
    const parts = { kind: 'text', role, text, contains: false, index: undefined } as const;
    const index = matchesOf(parts).indexOf(element) + 1;
    if (index > 0) return formatLocator({ role, text, index });
  }
  const css = cssPath(element);
  if (means(css, element)) return css;
  return numberedLocator(element) ?? css;
}

function numberedLocator(element: Element): string | null {
  const role = roleOf(element);
  const index = matchesOf({ kind: 'text', role, text: '', contains: false, index: undefined }).indexOf(element) + 1;
  return index > 0 ? formatLocator({ role, text: '', index }) : null;
}

/** Whether a flow that has not looked finds this element by the locator. */
function means(locator: string, element: Element): boolean {
  const found = resolve({ locator }, { hidden: !isVisible(element), explain: false });
  return !isProblem(found) && found === element;
}
