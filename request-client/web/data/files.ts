import type { ExportFormat, ExportView } from '../../protocol/request-exports.js';
import type { DocumentView } from '../../protocol/request-window.js';
import { ClientError, call } from './client.js';
import { dialogs } from './dialogs.svelte.js';
import { workspace } from './workspace.svelte.js';

const EXPORTS: ReadonlyMap<string, readonly [format: ExportFormat, extension: string]> = new Map([
  ['HAR', ['har', 'har']],
  ['Insomnia 5', ['insomnia', 'insomnia.yaml']],
  ['Bruno', ['bruno', 'bruno.json']],
  ['curl', ['curl', 'curl.sh']],
] as const);

/** The actions of the File menu, with protection of unsaved changes. */
export const files = {
  async begin(): Promise<void> {
    if (!(await mayLeave())) return;
    await dialogs.attempt(async () => workspace.take(await call<DocumentView>('POST', 'document/new')));
  },

  /** @param known a path; without one the user is asked */
  async open(known?: string): Promise<void> {
    if (!(await mayLeave())) return;
    const path = known ?? (await dialogs.askFile('open'));
    if (path === null) return;
    await dialogs.attempt(async () => {
      workspace.take(await call<DocumentView>('POST', 'document/open', { path }));
      await workspace.lookAtRecent();
    });
  },

  /** Also saves edited environments. @returns whether everything is saved now */
  async save(as = false): Promise<boolean> {
    await dialogs.attempt(() => workspace.flush());
    const { document } = workspace;
    const own = document?.file ?? null;
    const name = `${(document?.name ?? 'collection').replace(/[\\/:*?"<>|]+/g, '-')}.json`;
    const path = as || own === null ? await dialogs.askFile('save', name) : null;
    if (path === null && (as || own === null)) return false;
    return (await saveTo(path, false)) && (await this.saveEnvironments());
  },

  async saveEnvironments(): Promise<boolean> {
    for (const { id, changed } of workspace.document?.environments ?? []) {
      if (changed && !(await saveEnvironment(id, false))) return false;
    }
    return true;
  },

  /** Writes the collection to a file for another tool; secrets in it are part of the file. */
  async exportAs(): Promise<void> {
    const choice = await dialogs.ask(
      'Export the collection',
      'The file contains passwords and tokens as they are written in the collection.',
      [...EXPORTS.keys()],
    );
    const [format, extension] = EXPORTS.get(choice ?? '') ?? [];
    if (format === undefined) return;
    await dialogs.attempt(() => workspace.flush());
    const name = (workspace.document?.name ?? 'collection').replace(/[\\/:*?"<>|]+/g, '-');
    const path = await dialogs.askFile('export', `${name}.${extension}`);
    if (path === null) return;
    await unlessOverwritten('The file already exists', path, false, async (overwrite) => {
      const { warnings } = await call<ExportView>('POST', 'export', { format, path, overwrite });
      dialogs.say([`Exported ${path}`, ...warnings].join('. '), warnings.length > 0);
    });
  },

  /** The client process writes the body of an answer to a file. */
  async saveBody(sentId: string, path: string): Promise<void> {
    await unlessOverwritten('The file already exists', path, false, async (overwrite) => {
      await call('POST', `history/${sentId}/save`, { path, overwrite });
      dialogs.say(`Saved ${path}`);
    });
  },

  /** Checks whether somebody else changed the file; called when the window gets the focus. */
  async lookAtDisk(): Promise<void> {
    const path = workspace.document?.file?.path;
    if (path === undefined || dialogs.question !== null) return;
    const { changed } = await call<{ changed: boolean }>('GET', 'document/disk');
    if (!changed) return;
    const lost = workspace.changed ? ' Your own changes since the last save would be lost.' : '';
    const choice = await dialogs.ask('The file was changed on disk', `${path}.${lost}`, [
      'Open again',
      'Keep my changes',
    ]);
    if (choice !== 'Open again') return;
    await dialogs.attempt(async () => workspace.take(await call<DocumentView>('POST', 'document/open', { path })));
  },

  async quit(): Promise<void> {
    if (!(await mayLeave())) return;
    await dialogs.attempt(async () => {
      await call('POST', 'quit');
      workspace.document = null;
      workspace.broken = 'The request client has stopped. You can close this window.';
      window.close();
    });
  },
};

async function saveTo(path: string | null, overwrite: boolean): Promise<boolean> {
  const own = path ?? workspace.document?.file?.path ?? '';
  const title = path === null ? 'The file was changed on disk' : 'The file already exists';
  return await unlessOverwritten(title, own, overwrite, async (over) => {
    workspace.document = await call<DocumentView>('POST', 'document/save', { path, overwrite: over });
    dialogs.say(`Saved ${workspace.document.file?.path ?? ''}`);
  });
}

async function saveEnvironment(id: string, overwrite: boolean): Promise<boolean> {
  const own = workspace.document?.environments.find((one) => one.id === id)?.path ?? '';
  return await unlessOverwritten('The file was changed on disk', own, overwrite, async (over) => {
    workspace.document = await call<DocumentView>('POST', `environments/${id}/save`, { overwrite: over });
    dialogs.say(`Saved ${own}`);
  });
}

/** Saves; if that would overwrite somebody else's changes, the user is asked. */
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
      dialogs.say(error instanceof Error ? error.message : String(error), true);
      return false;
    }
  }
  const choice = await dialogs.ask(title, path, ['Overwrite', 'Cancel']);
  return choice === 'Overwrite' ? await unlessOverwritten(title, path, true, save) : false;
}

async function mayLeave(): Promise<boolean> {
  await dialogs.attempt(() => workspace.flush());
  if (!workspace.changed) return true;
  const name = workspace.document?.file?.name ?? workspace.document?.name ?? '';
  const choice = await dialogs.ask('Save the changes?', `${name} has changes that are not saved.`, [
    'Save',
    'Don’t save',
    'Cancel',
  ]);
  if (choice === 'Save') return await files.save();
  return choice === 'Don’t save';
}
