import { shownValue } from '../controls/descriptor.js';
import { checkedState, inputKind } from '../names/roles.js';
import { isElement, isHtml } from '../tree/flat-tree.js';
import { innermost } from '../tree/innermost.js';
import { type Target, targetOf } from './target.js';
import { type Teller, told } from './teller.js';

/** Keys that change a text by themselves: the resulting value is recorded instead. */
const EDITING = /^(Backspace|Delete|Enter)$/;
const HELD = /^(Control|Shift|Alt|Meta|AltGraph|CapsLock|NumLock|Fn|Hyper|Super)$/;
/** Keys that flows can press; others have one character. */
const NAMED =
  /^(Backspace|Tab|Enter|Escape|PageUp|PageDown|End|Home|Arrow(Left|Up|Right|Down)|Insert|Delete|ContextMenu)$/;
/** With Control: what changes a text. */
const EDITING_CHORDS = /^[vxyz]$/i;

/** What a person types, chooses, checks and uploads. */
export class Entries {
  readonly #teller: Teller;
  /** The field that is being filled in, under the name that it had before. */
  #field: Target | null = null;
  /** Fields that have hidden what is in them keep doing so here, also when the page shows it. */
  readonly #secrets = new WeakSet<Element>();
  /** A key in a field that has not changed it yet. */
  #pending: { readonly target: Target; readonly key: string } | null = null;

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  keyDown(event: KeyboardEvent): void {
    this.#flush();
    const hit = innermost(event);
    if (!isElement(hit) || event.isComposing || HELD.test(event.key)) return;
    const { key } = event;
    const target = this.#fieldTarget(hit);
    if (target === null) return;
    const chorded = event.ctrlKey || event.metaKey || event.altKey;
    const typed = inputKind(target.element) === 'typed';
    const named = nameOf(event);
    if (named === null) {
      this.#teller.note(`the key ${JSON.stringify(told(key))}`);
      return;
    }
    if (!typed) this.#pressed(target, named);
    else if (key === 'Enter' && isHtml(target.element, 'input')) this.#pressed(target, named);
    else if (chorded ? EDITING_CHORDS.test(key) : key.length === 1 || EDITING.test(key))
      this.#pending = { target, key: named };
    else this.#pressed(target, named);
  }

  /** After the page's own listeners: a key that they have taken changes no text. */
  keyDownEnded(event: KeyboardEvent): void {
    if (event.defaultPrevented) this.#flush();
  }

  keyUp(): void {
    this.#flush();
  }

  beforeInput(event: Event): void {
    const hit = innermost(event);
    if (isElement(hit)) this.#fieldTarget(hit);
    this.#pending = null;
  }

  input(event: Event): void {
    const hit = innermost(event);
    if (!isElement(hit)) return;
    this.#pending = null;
    const target = this.#fieldTarget(hit);
    if (target === null) return;
    const { element, recorded } = target;
    if (inputKind(element) === 'none') return;
    this.#teller.act(
      element,
      recorded,
      this.#isSecret(element)
        ? { action: 'input', value: '', secret: true }
        : { action: 'input', value: told(textOfField(element)) },
      ['input', 'click'],
    );
  }

  change(event: Event): void {
    const hit = innermost(event);
    if (!isElement(hit)) return;
    if (isHtml(hit, 'select')) {
      const chosen = [...hit.selectedOptions].map(({ text }) => told(text));
      const value = hit.multiple ? chosen : (chosen[0] ?? '');
      this.#teller.act(hit, targetOf(hit).recorded, { action: 'select', value }, ['select', 'click']);
    } else if (isHtml(hit, 'input')) this.#changed(hit);
  }

  #changed(field: HTMLInputElement): void {
    const checked = checkedState(field);
    if (checked !== null) {
      // The press, or the key, on it or its label was how it was checked.
      const by = this.#teller.lastElement ?? field;
      const action = checked === true ? 'check' : 'uncheck';
      const target = targetOf(field).recorded;
      this.#teller.act(field, target, { action }, isFor(by, field) ? ['click', 'press'] : [], by);
    } else if (field.type === 'file') {
      const names = [...(field.files ?? [])].map(({ name }) => told(name));
      if (names.length === 0) return;
      const value = names.length === 1 ? (names[0] ?? '') : names;
      this.#teller.act(field, targetOf(field).recorded, { action: 'upload', value }, ['upload', 'click']);
    } else if (inputKind(field) === 'set') {
      const value = told(textOfField(field));
      this.#teller.act(field, targetOf(field).recorded, { action: 'input', value }, ['input', 'press', 'click']);
    }
  }

  #pressed(target: Target, key: string): void {
    const { element, recorded } = target;
    // Typed letters of a hidden text are no keys to be known.
    if (this.#isSecret(element) && key.length === 1) return;
    this.#teller.act(element, recorded, { action: 'press', value: key });
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) this.#pressed(pending.target, pending.key);
  }

  #isSecret(element: Element): boolean {
    if (isHtml(element, 'input') && element.type === 'password') this.#secrets.add(element);
    return this.#secrets.has(element);
  }

  /** The field as it was called before it was typed into: typing may change its name. */
  #fieldTarget(hit: Element): Target | null {
    const element = editorAround(hit);
    this.#isSecret(element);
    if (this.#field?.element === element && this.#teller.lastElement === element) return this.#field;
    this.#field = targetOf(element);
    return this.#field;
  }
}

/** Keys go to the paragraph of an editor; the editor is what is filled in. */
function editorAround(hit: Element): Element {
  const host = isHtml(hit, 'input') || isHtml(hit, 'textarea') ? null : hit.closest('[contenteditable]');
  let outer = host;
  for (let next = host; next !== null; next = next.parentElement?.closest('[contenteditable]') ?? null) outer = next;
  return outer ?? hit;
}

function textOfField(element: Element): string {
  return shownValue(element).replace(/\n$/, '');
}

/** Whether a press on `pressed` is a press on the check box: itself, its label, or what draws it. */
function isFor(pressed: Element, field: HTMLInputElement): boolean {
  return (
    pressed === field || [...(field.labels ?? [])].some((label) => label.contains(pressed)) || pressed.contains(field)
  );
}

/** As flows write it; null for one that they cannot press. */
function nameOf(event: KeyboardEvent): string | null {
  const { key } = event;
  const single = [...key].length === 1;
  if (!single && !NAMED.test(key)) return null;
  const name = key === ' ' ? 'Space' : key;
  const modifiers = [
    event.ctrlKey ? 'Control' : '',
    event.altKey ? 'Alt' : '',
    event.metaKey ? 'Meta' : '',
    // A character says by itself that Shift was held.
    event.shiftKey && (!single || event.ctrlKey || event.metaKey || event.altKey) ? 'Shift' : '',
  ].filter((one) => one !== '');
  return [...modifiers, modifiers.length > 0 && single ? name.toUpperCase() : name].join('+').replace('SPACE', 'Space');
}
