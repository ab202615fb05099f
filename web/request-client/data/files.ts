import type { DocumentView } from '../../../src/protocol/request-window.js';
import { ClientError, call } from './client.js';
import { talk } from './talk.svelte.js';
import { workspace } from './workspace.svelte.js';

/** What File does, and what guards changes from being lost. */
export const files = {
  async begin(): Promise<void> {
    if (!(await mayLeave())) return;
    await talk.attempt(async () => workspace.take(await call<DocumentView>('POST', 'document/new')));
  },

  /** @param known a path; without one the user is asked */
  async open(known?: string): Promise<void> {
    if (!(await mayLeave())) return;
    const path = known ?? (await talk.askFile('open'));
    if (path === null) return;
    await talk.attempt(async () => workspace.take(await call<DocumentView>('POST', 'document/open', { path })));
  },

  /** Environments that were edited are saved with it. @returns whether all is saved now */
  async save(as = false): Promise<boolean> {
    await talk.attempt(() => workspace.flush());
    const { document } = workspace;
    const own = document?.file ?? null;
    const name = `${(document?.name ?? 'collection').replace(/[\\/:*?"<>|]+/g, '-')}.json`;
    const path = as || own === null ? await talk.askFile('save', name) : null;
    if (path === null && (as || own === null)) return false;
    return (await saveTo(path, false)) && (await this.saveEnvironments());
  },

  async saveEnvironments(): Promise<boolean> {
    for (const { id, changed } of workspace.document?.environments ?? []) {
      if (changed && !(await saveEnvironment(id, false))) return false;
    }
    return true;
  },

  /** The client writes the body of an answer to a file. */
  async saveBody(sentId: string, path: string): Promise<void> {
    await unlessOverwritten('There is a file of this name', path, false, async (overwrite) => {
      await call('POST', `history/${sentId}/save`, { path, overwrite });
      talk.say(`Saved ${path}`);
    });
  },

  /** Looks whether somebody else wrote the file; called when the window gets the focus. */
  async lookAtDisk(): Promise<void> {
    const path = workspace.document?.file?.path;
    if (path === undefined || talk.question !== null) return;
    const { changed } = await call<{ changed: boolean }>('GET', 'document/disk');
    if (!changed) return;
    const lost = workspace.changed ? ' Your own changes since the last save would be lost.' : '';
    const choice = await talk.ask('The file was changed on disk', `${path}.${lost}`, ['Open again', 'Keep mine']);
    if (choice !== 'Open again') return;
    await talk.attempt(async () => workspace.take(await call<DocumentView>('POST', 'document/open', { path })));
  },

  async quit(): Promise<void> {
    if (!(await mayLeave())) return;
    await talk.attempt(async () => {
      await call('POST', 'quit');
      workspace.document = null;
      workspace.broken = 'The client has ended. This window may be closed.';
      window.close();
    });
  },
};

async function saveTo(path: string | null, overwrite: boolean): Promise<boolean> {
  const own = path ?? workspace.document?.file?.path ?? '';
  const title = path === null ? 'The file was changed on disk' : 'There is a file of this name';
  return await unlessOverwritten(title, own, overwrite, async (over) => {
    workspace.document = await call<DocumentView>('POST', 'document/save', { path, overwrite: over });
    talk.say(`Saved ${workspace.document.file?.path ?? ''}`);
  });
}

async function saveEnvironment(id: string, overwrite: boolean): Promise<boolean> {
  const own = workspace.document?.environments.find((one) => one.id === id)?.path ?? '';
  return await unlessOverwritten('The file was changed on disk', own, overwrite, async (over) => {
    workspace.document = await call<DocumentView>('POST', `environments/${id}/save`, { overwrite: over });
    talk.say(`Saved ${own}`);
  });
}

/** Saves; where that would undo what somebody else wrote, the user is asked. */
async function unlessOverwritten(
  title: string,
  path: string,
  overwrite: boolean,
  save: (overwrite: boolean) => Promise<void>,
): Promise<boolean> {
  try {
    await save(overwrite);
    return true;
  } catch (error) {
    if (!(error instanceof ClientError) || error.body.details?.changedOnDisk !== true) {
      talk.say(error instanceof Error ? error.message : String(error), true);
      return false;
    }
  }
  const choice = await talk.ask(title, path, ['Overwrite', 'Cancel']);
  return choice === 'Overwrite' ? await unlessOverwritten(title, path, true, save) : false;
}

async function mayLeave(): Promise<boolean> {
  await talk.attempt(() => workspace.flush());
  if (!workspace.changed) return true;
  const name = workspace.document?.file?.name ?? workspace.document?.name ?? '';
  const choice = await talk.ask('Save the changes?', `${name} has changes that are not saved.`, [
    'Save',
    'Don’t save',
    'Cancel',
  ]);
  if (choice === 'Save') return await files.save();
  return choice === 'Don’t save';
}
