import type { DocumentView, EnvironmentRow } from '../../../src/protocol/requests/request-window.js';
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

  async rename(id: string, name: string): Promise<void> {
    await workspace.change(() => call<DocumentView>('PUT', `environments/${id}/name`, { name }));
  },

  /** Writes its variables to a file of their own. */
  async duplicate(id: string): Promise<void> {
    const name = workspace.document?.environments.find((one) => one.id === id)?.name ?? 'environment';
    const path = await dialogs.askFile(
      'new-environment',
      `${name.replace(/[\\/:*?"<>|]+/g, '-')} copy.postman_environment.json`,
    );
    if (path === null) return;
    await workspace.change(() => call<DocumentView>('POST', `environments/${id}/duplicate`, { path }));
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
