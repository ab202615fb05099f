import { TroupeError } from '../../protocol/errors.js';
import {
  type FolderView,
  ImportText,
  type ImportView,
  MoveItem,
  NewItem,
  OpenFile,
  RequestEdit,
  SaveFile,
  VariableRows,
} from '../../protocol/request-window.js';
import { readRequest } from '../collection/read-request.js';
import { exportCurl } from '../curl-export/export-curl.js';
import type { ShellKind } from '../curl-import/detect-shell.js';
import { importCurl } from '../curl-import/import-curl.js';
import { checked } from './checked.js';
import { listFolder } from './list-folder.js';
import type { Tell, Workspace } from './workspace.js';

/** What a route is given: the parts of its path that stand for something, and the JSON that was sent. */
export interface WindowCall {
  readonly workspace: Workspace;
  readonly params: readonly string[];
  readonly body: unknown;
  /** Where dialogs begin. */
  readonly folder: string;
}

/** A route answers with one JSON value, or with lines while something is under way. */
export type WindowRoute = { readonly method: string; readonly path: RegExp } & (
  | { readonly answer: (call: WindowCall) => unknown }
  | { readonly follow: (call: WindowCall, tell: Tell, signal: AbortSignal) => Promise<void> }
);

const ITEM = '(i\\d+)';
const at = (path: string): RegExp => new RegExp(`^/api/${path}$`);
const SHELLS: readonly ShellKind[] = ['posix', 'cmd', 'powershell'];

export const WINDOW_ROUTES: readonly WindowRoute[] = [
  { method: 'GET', path: at('document'), answer: ({ workspace }) => workspace.view },
  {
    method: 'GET',
    path: at('document/disk'),
    answer: async ({ workspace }) => ({ changed: await workspace.document.changedOnDisk() }),
  },
  {
    method: 'POST',
    path: at('document/new'),
    answer: ({ workspace }) => {
      workspace.begin();
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('document/open'),
    answer: async ({ workspace, body }) => {
      await workspace.open(checked(OpenFile, body).path);
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('document/save'),
    answer: async ({ workspace, body }) => {
      const { path, overwrite } = checked(SaveFile, body);
      await workspace.save(path, overwrite);
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('document/undo'),
    answer: ({ workspace }) => {
      workspace.edit((document) => document.undo());
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('document/name'),
    answer: ({ workspace, body }) => {
      workspace.document.renameCollection(checked(RequestEdit, body).name ?? '');
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('environment'),
    answer: async ({ workspace, body }) => {
      await workspace.useEnvironment(checked(OpenFile, body).path);
      return workspace.view;
    },
  },
  {
    method: 'DELETE',
    path: at('environment'),
    answer: async ({ workspace }) => {
      await workspace.useEnvironment(null);
      return workspace.view;
    },
  },
  {
    method: 'PUT',
    path: at('variables'),
    answer: ({ workspace, body }) => {
      workspace.setVariables(checked(VariableRows, body).rows);
      return workspace.view;
    },
  },
  {
    method: 'POST',
    path: at('items'),
    answer: ({ workspace, body }) => {
      const { parent, kind, name } = checked(NewItem, body);
      const id = workspace.document.add(parent, kind, name);
      return { id, document: workspace.view };
    },
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/duplicate`),
    answer: ({ workspace, params: [id = ''] }) => {
      const made = workspace.document.duplicate(id);
      return { id: made, document: workspace.view };
    },
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/move`),
    answer: ({ workspace, params: [id = ''], body }) => {
      const { parent, index } = checked(MoveItem, body);
      workspace.document.move(id, parent, index);
      return workspace.view;
    },
  },
  {
    method: 'DELETE',
    path: at(`items/${ITEM}`),
    answer: ({ workspace, params: [id = ''] }) => {
      workspace.document.remove(id);
      return workspace.view;
    },
  },
  {
    method: 'GET',
    path: at(`items/${ITEM}`),
    answer: ({ workspace, params: [id = ''] }) => workspace.document.form(id),
  },
  {
    method: 'PATCH',
    path: at(`items/${ITEM}`),
    answer: ({ workspace, params: [id = ''], body }) => {
      workspace.document.edit(id, checked(RequestEdit, body));
      const { changed, canUndo } = workspace.document;
      return { changed, canUndo };
    },
  },
  {
    method: 'GET',
    path: at(`items/${ITEM}/curl/(posix|cmd|powershell)`),
    answer: ({ workspace, params: [id = '', shell = ''] }) => {
      const known = SHELLS.find((one) => one === shell) ?? 'posix';
      return exportCurl(readRequest(workspace.document.node(id).value), known);
    },
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/send`),
    follow: ({ workspace, params: [id = ''] }, tell, signal) => workspace.send(id, tell, signal),
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/token`),
    follow: ({ workspace, params: [id = ''] }, tell, signal) => workspace.newToken(id, tell, signal),
  },
  { method: 'GET', path: at(`items/${ITEM}/token`), answer: ({ workspace, params: [id = ''] }) => workspace.token(id) },
  {
    method: 'DELETE',
    path: at(`items/${ITEM}/token`),
    answer: ({ workspace, params: [id = ''] }) => workspace.forgetToken(id),
  },
  { method: 'POST', path: at('import'), answer: importPaste },
  { method: 'GET', path: at('history'), answer: ({ workspace }) => workspace.history.lines },
  {
    method: 'GET',
    path: at('history/(s\\d+)'),
    answer: ({ workspace, params: [id = ''] }) => workspace.history.find(id) ?? notKept(),
  },
  { method: 'POST', path: at('folder'), answer: listed },
];

function importPaste({ workspace, body }: WindowCall): ImportView {
  const { text, parent } = checked(ImportText, body);
  const imported = importCurl(text);
  const made =
    imported.requests.length === 0 ? [] : workspace.edit((document) => document.addImported(imported, parent));
  const { variables, warnings, errors } = imported;
  return { made, variables: variables.map(({ name }) => name), warnings, errors, document: workspace.view };
}

async function listed({ body, folder }: WindowCall): Promise<FolderView> {
  const { path } = checked(OpenFile, body);
  return await listFolder(path === '.' ? folder : path);
}

function notKept(): never {
  throw new TroupeError('NOT_FOUND', 'This answer is no longer kept');
}
