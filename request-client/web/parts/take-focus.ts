/**
 * Focuses a field when it appears, and selects its text. The attribute `autofocus` does nothing while something else
 * has the focus.
 */
export function takeFocus(field: HTMLInputElement): void {
  field.focus();
  field.select();
}
