import type { CurlOptions, CurlView } from '../../../protocol/request-window.js';
import { call } from '../../data/client.js';
import { dialogs } from '../../data/dialogs.svelte.js';
import { workspace } from '../../data/workspace.svelte.js';
import type { MenuEntry } from '../../parts/menu.svelte';

/** The entries of a request's menu that copy it as a command. */
export function copyAsCurl(id: string): MenuEntry[] {
  const copy = (shell: CurlOptions['shell']) => () =>
    dialogs.attempt(async () => {
      await workspace.flush();
      const { command, warnings } = await call<CurlView>('POST', `items/${id}/curl`, { shell, values: true });
      await navigator.clipboard.writeText(command);
      dialogs.say(['Copied', ...warnings].join('. '), warnings.length > 0);
    });
  return [
    { label: 'Copy as curl (sh)', act: copy('posix') },
    { label: 'Copy as curl (cmd)', act: copy('cmd') },
    { label: 'Copy as curl (PowerShell)', act: copy('powershell') },
  ];
}
