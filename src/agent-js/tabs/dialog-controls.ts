import { parseLocator } from '../../page/locator.js';
import { TroupeError } from '../../protocol/errors.js';
import type { ActionName, ElementDescriptor } from '../../protocol/look.js';
import { type Bounds, remainingMs } from '../browser/bounds.js';
import type { OpenDialog, Tab } from './tab.js';

/**
 * What Chromium says of a dialog whose page it has begun to replace by another that was under way. Nothing brings such a tab
 * back: the dialog stays, navigations wait for it, and `Page.disable` ends the whole browser.
 */
const REPLACED = 'Not attached to an active page';

/** What a person can do about an open dialog, as look shows it: OK, Cancel but for an alert, a prompt's Input. */
export function dialogControls(dialog: OpenDialog): ElementDescriptor[] {
  const control = (name: string, actions: ActionName[], value?: string): ElementDescriptor => ({
    role: 'dialog',
    name,
    locator: `{dialog}${name}`,
    actions,
    ...(value === undefined || value === '' ? {} : { value }),
  });
  const controls = [control('OK', ['click'])];
  if (dialog.kind !== 'alert') controls.push(control('Cancel', ['click']));
  if (dialog.input !== null) controls.push(control('Input', ['input', 'clear'], dialog.input));
  return controls;
}

/** Which of the dialog's controls a locator means, or undefined. */
export function dialogControl(dialog: OpenDialog | null, source: string): ElementDescriptor | undefined {
  const locator = parseLocator(source);
  if (dialog === null || locator?.kind !== 'text' || (locator.role !== 'dialog' && locator.role !== '*'))
    return undefined;
  const { text, contains } = locator;
  return dialogControls(dialog).find(({ name }) => (contains ? name.includes(text) : name === text));
}

/** Whether a locator means the open dialog as a whole, or one of its controls. */
export function isOnDialog(dialog: OpenDialog | null, source: string): boolean {
  return dialog !== null && (meansDialog(source) || dialogControl(dialog, source) !== undefined);
}

/** Whether a locator is `{dialog}`, which is the dialog as a whole: its text is the message. */
export function meansDialog(source: string): boolean {
  const locator = parseLocator(source);
  return locator?.kind === 'text' && locator.role === 'dialog' && locator.text === '' && !locator.contains;
}

/** Answers the dialog, or sets what a prompt will be answered with. */
export async function actOnDialog(
  tab: Tab,
  source: string,
  action: ActionName,
  value: string | null,
  bounds: Bounds,
): Promise<void> {
  const { dialog } = tab;
  const control = dialogControl(dialog, source);
  if (dialog === null || control === undefined) throw tab.dialogError();
  if (!control.actions.includes(action)) {
    throw new TroupeError(
      'ACTION_FAILED',
      `${control.locator} cannot ${action}; it takes ${control.actions.join(', ')}`,
    );
  }
  if (control.name === 'Input') {
    dialog.input = action === 'clear' ? '' : (value ?? '');
    return;
  }
  await answerDialog(tab, control.name === 'OK', bounds);
}

/** Closes the open dialog and waits until it is gone. */
export async function answerDialog(tab: Tab, accept: boolean, bounds: Bounds): Promise<void> {
  const { dialog } = tab;
  if (dialog === null) return;
  const promptText = accept && dialog.input !== null ? { promptText: dialog.input } : {};
  const answer = tab.send('Page.handleJavaScriptDialog', { accept, ...promptText }, Math.max(1, remainingMs(bounds)));
  await answer.catch((error: unknown) => {
    if (!(error instanceof TroupeError) || !error.message.includes(REPLACED)) throw error;
    throw new TroupeError(
      'ACTION_FAILED',
      'The page was replaced by another while its dialog was open, and the browser no longer answers for this tab: continue in another tab, or start a new session',
    );
  });
  await tab.until(() => tab.dialog !== dialog, bounds);
}
