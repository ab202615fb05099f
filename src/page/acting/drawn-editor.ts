import { selectContent } from './field.js';

/** A key as an editor that draws its own text hears it. Nothing of the page but its handlers acts on it. */
const SELECT_ALL = { key: 'a', code: 'KeyA', keyCode: 65, ctrlKey: true };
const TO_THE_END = { key: 'End', code: 'End', keyCode: 35, ctrlKey: true };

/**
 * The whole text of an editor that draws it by itself, as the editor's own copy would take it; null if it hands out none.
 * Nothing is selected afterwards, and the cursor stands at the end.
 *
 * @param field what takes the editor's keys, and has the focus
 */
export async function editorText(field: Element): Promise<string | null> {
  press(field, SELECT_ALL);
  await nextTask();
  const clipboardData = new DataTransfer();
  field.dispatchEvent(new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true, composed: true }));
  const copied = clipboardData.getData('text/plain');
  const text = copied === '' ? selected(field) : copied;
  press(field, TO_THE_END);
  await nextTask();
  return text === '' ? null : text;
}

/** Hands a text to an editor as the clipboard would, in place of all it holds. False if the editor does not take it. */
export async function paste(field: Element, text: string, drawn: boolean): Promise<boolean> {
  if (drawn) press(field, SELECT_ALL);
  else selectContent(field);
  // The selection reaches the editor's own account of it by an event.
  await nextTask();
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true });
  field.dispatchEvent(event);
  if (!event.defaultPrevented) return false;
  await nextTask();
  return true;
}

function press(field: Element, key: KeyboardEventInit): void {
  const more = { bubbles: true, cancelable: true, composed: true };
  field.dispatchEvent(new KeyboardEvent('keydown', { ...key, ...more }));
  field.dispatchEvent(new KeyboardEvent('keyup', { ...key, ...more }));
}

/** Some editors put what is selected into the field, for the browser to copy. */
function selected(field: Element): string {
  const { value = '', selectionStart, selectionEnd } = field as Partial<HTMLTextAreaElement>;
  return value.slice(selectionStart ?? 0, selectionEnd ?? 0);
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
