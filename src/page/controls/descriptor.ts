import { checkedState, inputKind, isField } from '../names/roles.js';
import { isHtml } from '../tree/flat-tree.js';
import { isDisabled } from '../tree/visibility.js';
import { shortName } from '../unique-locators.js';
import { ACTION_SETS, type MoreMembers, type WireDescriptor } from '../wire-descriptor.js';
import { actionsOf } from './actions.js';
import type { Control } from './control.js';
import { isOutOfReach } from './pressed-through.js';

/** A longer value is cut. */
const MAX_VALUE = 500;
/** Further options are left out. */
const MAX_OPTIONS = 500;

/** A control as look shows it; further members only where they say something. */
export function describe(control: Control, locator: string): WireDescriptor {
  const { element, name, role } = control;
  const shown = shortName(name);
  const value = shownValue(element);
  const checked = checkedState(element, role);
  const href = linkTarget(element);
  const more: { -readonly [M in keyof MoreMembers]: MoreMembers[M] } = {};
  if (shown !== name) more.name = shown;
  if (value !== '') more.value = value.slice(0, MAX_VALUE);
  if (checked !== null) more.checked = checked;
  if (isDisabled(element) || (!control.isHit && isOutOfReach(element))) more.disabled = true;
  if (isHtml(element, 'select')) more.options = [...element.options].slice(0, MAX_OPTIONS).map(({ label }) => label);
  if (href !== '') more.href = href;
  if (control.whereabouts === 'offscreen') more.offscreen = true;
  const actions = ACTION_SETS.indexOf(actionsOf(element, role));
  return Object.keys(more).length === 0 ? [locator, actions] : [locator, actions, more];
}

/** What a person reads in the field. Never a password. */
export function shownValue(element: Element): string {
  if (isField(element)) {
    if (isHtml(element, 'select')) return [...element.selectedOptions].map((option) => option.label).join(', ');
    if (isHtml(element, 'textarea')) return element.value;
    if (element.type === 'file') return [...(element.files ?? [])].map((file) => file.name).join(', ');
    return element.type === 'password' || inputKind(element) === 'none' ? '' : element.value;
  }
  // biome-ignore lint/performance/useDomNodeTextContent: what is not drawn is no value
  if (inputKind(element) === 'typed') return (element as Partial<HTMLElement>).innerText ?? '';
  return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
}

/** A path that means itself, on http and https. */
const PLAIN_PATH = /^\/(?!\/)(?:[\w~-][\w.~-]*\/?)*(?:[?#][\w=&%.+~-]*)?$/;

/** The path on the page's own site, the whole address elsewhere. */
function linkTarget(element: Element): string {
  if (!isHtml(element, 'a') && !isHtml(element, 'area')) return '';
  const written = element.getAttribute('href') ?? '';
  // Nearly all are written as they are shown; to have the browser resolve each is what a long list of links costs most.
  if (PLAIN_PATH.test(written) && element.baseURI === element.ownerDocument.URL) return written.slice(0, MAX_VALUE);
  const { href } = element;
  if (href === '' || href.startsWith('javascript:')) return '';
  const { origin } = element.ownerDocument.location;
  return (href.startsWith(`${origin}/`) ? href.slice(origin.length) : href).slice(0, MAX_VALUE);
}
