import type { DocumentView, EnvironmentRow } from '../../protocol/request-window.js';
import { call } from './client.js';
import { dialogs } from './dialogs.svelte.js';
import { workspace } from './workspace.svelte.js';

/** Actions on environments, which the client process keeps. */
export const environments = {
  async open(): Promise<void> {
    const path = await dialogs.askFile('open-environment');
    if (path !== null) await workspace.change(() => call<DocumentView>('POST', 'environments', { path }));
  },

  /** Creates an empty one in its own file. */
  async create(): Promise<void> {
    const path = await dialogs.askFile('new-environment', 'local.postman_environment.json');
    if (path === null) return;
    await workspace.change(() => call<DocumentView>('POST', 'environments/new', { path }));
    workspace.pane = 'variables';
  },

  /** @param id null for none */
  async choose(id: string | null): Promise<void> {
    await workspace.change(() => call<DocumentView>('PUT', 'environments/active', { id }));
  },

  async edit(id: string, rows: readonly EnvironmentRow[]): Promise<void> {
    await workspace.change(() => call<DocumentView>('PATCH', `environments/${id}`, { rows }));
  },

  async close(id: string): Promise<void> {
    const line = workspace.document?.environments.find((one) => one.id === id);
    if (line?.changed === true) {
      const choice = await dialogs.ask(`Close ${line.name}?`, 'It has changes that are not saved.', [
        'Close',
        'Cancel',
      ]);
      if (choice !== 'Close') return;
    }
    await workspace.change(() => call<DocumentView>('DELETE', `environments/${id}`));
  },
};
