import { isPressOn } from '../controls/pressed-through.js';
import { isElement, isInside } from '../tree/flat-tree.js';
import { isSeenAt } from '../tree/geometry.js';
import { innermost } from '../tree/innermost.js';
import type { WindowListeners } from '../window-listeners.js';

const PRESSES = new Set(['pointerdown', 'mousedown']);
const POINTER = [...PRESSES, 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'] as const;
const KEYS = ['keydown', 'beforeinput', 'keypress', 'keyup'] as const;
const FORMS = ['submit', 'formdata'] as const;

/** Where input must land. */
export interface GuardTarget {
  readonly element: Element;
  /** What its locator means now: a page may have drawn it anew. */
  again(): Element | null;
  /** Told of each real key, before anybody else and also where it is held back. */
  hear(event: Event): void;
}

/** What was hit in the target's place, if anything was, and how many clicks the target had taken by then. */
export interface Missed {
  readonly hit: Element | null;
  readonly clicks: number;
}

/**
 * Watches over one input on its way: between the check that an element is ready and the arrival of the click or the key
 * there, the page may change. The first press that would land elsewhere is held back, with all that follows it, so that
 * nothing is ever clicked or typed into by mistake. The listeners stand on the window before any script of the page does.
 */
export class Guard {
  #target: GuardTarget | null = null;
  #state: 'off' | 'armed' | 'typing' | 'holding' = 'off';
  #missed: Element | null = null;
  /** The press under way has begun on the target. */
  #isDown = false;
  /** How many have begun on the target since the watch began, and how many of them have been clicks. */
  #presses = 0;
  #clicks = 0;
  #onForm: ((event: Event) => void) | null = null;

  readonly #listeners: WindowListeners;

  constructor(listeners: WindowListeners) {
    this.#listeners = listeners;
    listeners.add(POINTER, (event) => this.#pointer(event), { capture: true });
    listeners.add(KEYS, (event) => this.#key(event), { capture: true });
    listeners.add(FORMS, (event) => this.#onForm?.(event), { capture: true });
  }

  /** @param listener told of each form of the frame's document that is sent, before anybody else; null: nobody */
  hearForms(listener: ((event: Event) => void) | null): void {
    this.#listeners.attend();
    this.#onForm = listener;
  }

  /** @param target null: input must land nowhere in this frame */
  arm(target: GuardTarget | null): void {
    this.#listeners.attend();
    this.#target = target;
    this.#state = 'armed';
    this.#missed = null;
    this.#isDown = false;
    this.#presses = 0;
    this.#clicks = 0;
  }

  /** Ends the watch and answers what was hit in the target's place, if anything was. */
  disarm(): Missed {
    const missed = { hit: this.#missed, clicks: this.#clicks };
    this.#state = 'off';
    this.#target = null;
    this.#missed = null;
    return missed;
  }

  #pointer(event: Event): void {
    if (this.#state === 'off' || !event.isTrusted) return;
    if (PRESSES.has(event.type) && this.#state !== 'holding') this.#press(event);
    // A label passes its click on as another one.
    if (event.type === 'click' && this.#state === 'armed') this.#clicks = this.#presses;
    this.#hold(event);
  }

  /** A page may take the pointer away from what is pressed as soon as it hears of the press, which is still one on it. */
  #press(event: Event): void {
    const isBeginning = event.type === 'pointerdown' || !this.#isDown;
    this.#check(event, isBeginning ? isPressOn : isSeenAt);
    if (this.#state === 'holding') return;
    if (isBeginning) this.#presses++;
    this.#isDown = event.type === 'pointerdown';
  }

  /** The first key alone is looked at: a site may well move the focus on while a text is typed. */
  #key(event: Event): void {
    if (this.#state === 'off' || !event.isTrusted) return;
    if (this.#state === 'armed' && (event.type === 'keydown' || event.type === 'beforeinput')) {
      this.#state = 'typing';
      this.#check(event, hasFocus);
    }
    this.#target?.hear(event);
    this.#hold(event);
  }

  #check(event: Event, lands: (hit: Element, element: Element) => boolean): void {
    const hit = innermost(event);
    if (!isElement(hit) || (this.#target !== null && isMeant(hit, this.#target, lands))) return;
    this.#state = 'holding';
    this.#missed = hit;
  }

  #hold(event: Event): void {
    if (this.#state !== 'holding') return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

function isMeant(hit: Element, target: GuardTarget, lands: (hit: Element, element: Element) => boolean): boolean {
  if (lands(hit, target.element)) return true;
  if (target.element.isConnected) return false;
  const drawnAnew = target.again();
  return drawnAnew !== null && lands(hit, drawnAnew);
}

/** A key goes to the element, or to what it is a part of: an editor's paragraph has no focus of its own. */
export function hasFocus(focused: Element, element: Element): boolean {
  if (isInside(focused, element)) return true;
  return focused.localName !== 'body' && focused.localName !== 'html' && isInside(element, focused);
}
