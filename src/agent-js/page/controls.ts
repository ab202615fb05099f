import { formatLocator } from '../locator.js';
import { accessibleName } from './accessible-name.js';
import { isHtml, parentOf, walk } from './flat-tree.js';
import { answersTo, isControl, namesControlsOnly, naturalRole, roleOf } from './roles.js';
import { clipsAll, isShown, standIn, topModal } from './visibility.js';

/** A longer name is cut in what look prints, and its locator says how it begins. */
const MAX_NAME = 120;

/** Something that a person can operate. Its name is computed when somebody asks. */
export class Control {
  readonly element: Element;
  readonly role: string;
  #name: string | undefined;

  constructor(element: Element) {
    this.element = element;
    this.role = roleOf(element);
  }

  get name(): string {
    this.#name ??= accessibleName(this.element);
    return this.#name;
  }

  /** The words by which locators may call it. */
  get words(): readonly string[] {
    const natural = this.role === this.element.localName ? naturalRole(this.element) : this.role;
    return natural === this.role ? [this.role] : [this.role, natural];
  }
}

/**
 * Everything on the page that a person can operate now, in the order of drawing. With `word`, only what answers to it.
 * While a modal dialog is open, what is in it.
 */
export function collectControls(word = '*', root: Element = topModal() ?? document.documentElement): Control[] {
  const controls: Control[] = [];
  const clickables = new Set<Control>();
  // A style for each element is dear: it is asked for only where an element made clickable could answer.
  const byStyle = !namesControlsOnly(word);
  walk(root, { pointer: false, insideControl: false }, (element, inherited) => {
    if (element.localName === 'head' || element.hasAttribute('inert')) return undefined;
    if (!element.checkVisibility()) {
      const hidden = hiddenInput(element, word);
      if (hidden) controls.push(new Control(element));
      return getComputedStyle(element).display === 'contents' ? inherited : undefined;
    }
    if (isControl(element)) {
      if (answersTo(element, word) && isUsable(element)) controls.push(new Control(element));
      return { pointer: true, insideControl: true };
    }
    if (clipsAll(element)) return undefined;
    if (inherited.insideControl || !byStyle) return inherited;
    const pointer = getComputedStyle(element).cursor === 'pointer';
    const clickable = (pointer && !inherited.pointer) || element.hasAttribute('onclick');
    if (clickable && answersTo(element, word) && isClickTarget(element)) {
      const control = new Control(element);
      controls.push(control);
      clickables.add(control);
    }
    return pointer === inherited.pointer ? inherited : { pointer, insideControl: false };
  });
  return clickables.size === 0 ? controls : withoutWrappers(controls, clickables);
}

function isUsable(element: Element): boolean {
  if (isShown(element)) return true;
  return standIn(element) !== null;
}

/** An input that its page has put away: a person reaches it by its label, or by the button beside it. */
function hiddenInput(element: Element, word: string): boolean {
  if (!isHtml(element, 'input') || element.disabled || !answersTo(element, word)) return false;
  if (element.type === 'file') return parentOf(element)?.checkVisibility() === true || standIn(element) !== null;
  return standIn(element) !== null;
}

function isClickTarget(element: Element): boolean {
  const tag = element.localName;
  if (tag === 'html' || tag === 'body' || tag === 'label' || tag === 'option') return false;
  return isShown(element);
}

/** Leaves out elements that are clickable only around one control of the same name. */
function withoutWrappers(controls: readonly Control[], clickables: ReadonlySet<Control>): Control[] {
  return controls.filter((control, index) => {
    if (!clickables.has(control)) return true;
    const next = controls[index + 1];
    return next === undefined || !control.element.contains(next.element) || next.name !== control.name;
  });
}

/** A unique locator for each control. */
export function locatorsOf(controls: readonly Control[]): Map<Control, string> {
  const byWord = new Map<string, Control[]>();
  const byName = new Map<string, Control[]>();
  for (const control of controls) {
    for (const word of control.words) {
      put(byWord, word, control);
      put(byName, `${word}}${control.name}`, control);
    }
  }
  const locators = new Map<Control, string>();
  for (const control of controls) {
    const { role, name } = control;
    const contains = name.length > MAX_NAME;
    const text = contains ? beginning(name) : name;
    const alike =
      name === ''
        ? (byWord.get(role) ?? [])
        : contains
          ? (byWord.get(role) ?? []).filter((other) => other.name.includes(text))
          : (byName.get(`${role}}${name}`) ?? []);
    const index = alike.length > 1 ? alike.indexOf(control) + 1 : undefined;
    locators.set(control, formatLocator({ role, text, contains, index }));
  }
  return locators;
}

/** A name as look prints it. */
export function shortName(name: string): string {
  return name.length > MAX_NAME ? `${beginning(name)}…` : name;
}

function beginning(name: string): string {
  const cut = name.slice(0, MAX_NAME - 20);
  // Half a surrogate pair would match nothing.
  return (/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut).trimEnd();
}

function put(lists: Map<string, Control[]>, key: string, control: Control): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [control]);
  else list.push(control);
}
