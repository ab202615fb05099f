/** What an element reacts to, as bits: one number says all of it. */
export const PRESS = 1;
export const DOUBLE = 2;
export const CONTEXT = 4;
export const KEYS = 8;
export const DROP = 16;
export const HOVER = 32;
export const CARRY = 64;
/** Takes what is dropped itself, rather than only what is held above it. */
export const TAKES = 128;
/** Of a document's root element: the document or its window listens for presses on whatever is in it. */
export const WHOLE = 256;

/** Reacts already when the button goes down: the press is a gesture with a beginning, and an end that may be heard elsewhere. */
export const DOWN = 512;

/** Reacts when it gets the focus. */
export const FOCUS = 1024;

/** What a pointer does on the element itself. */
export const POINTED = PRESS | DOUBLE | CONTEXT;

/** Without a prototype: scripts of the page may have added members to it. */
const KINDS: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  click: PRESS,
  mousedown: PRESS | DOWN,
  mouseup: PRESS,
  pointerdown: PRESS | DOWN,
  pointerup: PRESS,
  touchstart: PRESS | DOWN,
  touchend: PRESS,
  dblclick: DOUBLE,
  contextmenu: CONTEXT,
  keydown: KEYS,
  keypress: KEYS,
  keyup: KEYS,
  drop: DROP | TAKES,
  dragover: DROP,
  mouseenter: HOVER,
  mouseover: HOVER,
  pointerenter: HOVER,
  pointerover: HOVER,
  dragstart: CARRY,
  focus: FOCUS,
  focusin: FOCUS,
});

/** The types of the events that make an element something to operate. */
export const EVENT_TYPES: readonly string[] = Object.keys(KINDS);

/** The bit of an event's type; 0 for all others. */
export function kindOfEvent(type: string): number {
  return KINDS[type] ?? 0;
}
