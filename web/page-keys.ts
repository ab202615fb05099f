/** Elements that take keys for themselves, as text or as a choice. */
const FIELDS = [
  'input',
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable="false"])',
  ...['textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'menu', 'application'].map(
    (role) => `[role="${role}"]`,
  ),
].join(', ');

/** What an input method reports for keys that it takes, in browsers that do not set `isComposing` for the first one. */
const PROCESS_KEY = 229;

/** Whether an input method takes the key: Enter then chooses a word, and Escape drops it. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === PROCESS_KEY;
}

/**
 * Whether an event is that of a field. An editor in a shadow root is one, too: outside of the root, the event's target
 * is the root's host.
 */
export function isInField(event: Event): boolean {
  return event.composedPath().some((node) => node instanceof Element && node.matches(FIELDS));
}

/** Whether a dialog keeps the rest of the page from being used. */
export function isDialogOpen(): boolean {
  return document.querySelector('dialog:modal, [role="dialog"][aria-modal="true"]') !== null;
}

/** Whether Ctrl, Alt or Cmd is held, other than to type a character. */
export function hasModifier(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph');
}

/**
 * Whether a key without modifiers, such as `n`, is meant for the page: nobody is typing, no dialog is open, and nothing
 * else has taken it.
 */
export function isPageKey(event: KeyboardEvent): boolean {
  return !(event.defaultPrevented || hasModifier(event) || isComposing(event) || isInField(event) || isDialogOpen());
}
