import { dirname } from 'node:path';
import { TextFile } from '../../engine/collection/text-file.js';
import { exportCollection } from '../../formats/exports/export-collection.js';
import { importAny } from '../../formats/imports/import-any.js';
import { IMPORT_FORMATS } from '../../formats/imports/imported.js';
import { ExportFile, type ExportView } from '../../protocol/request-exports.js';
import {
  type FolderView,
  ImportText,
  type ImportView,
  OpenFile,
  SaveFile,
  SearchText,
  type SearchView,
} from '../../protocol/request-window.js';
import { checked } from '../checked.js';
import { listFolder } from '../list-folder.js';
import { searchRequests } from '../search-requests.js';
import { at, changing, type WindowCall, type WindowRoute } from './window-route.js';

/** The document as a whole, and folders for the file dialogs. */
export const DOCUMENT_ROUTES: readonly WindowRoute[] = [
  { method: 'GET', path: at('document'), answer: ({ workspace }) => workspace.view },
  {
    method: 'GET',
    path: at('document/disk'),
    answer: async ({ workspace }) => ({ changed: await workspace.document.changedOnDisk() }),
  },
  changing('POST', 'document/new', ({ workspace }) => workspace.begin()),
  changing('POST', 'document/open', ({ workspace, body }) => workspace.open(checked(OpenFile, body).path)),
  changing('POST', 'document/save', ({ workspace, body }) => {
    const { path, overwrite } = checked(SaveFile, body);
    return workspace.save(path, overwrite);
  }),
  changing('POST', 'document/undo', ({ workspace }) => workspace.edit((document) => document.undo())),
  { method: 'POST', path: at('import'), answer: importPaste },
  {
    method: 'POST',
    path: at('search'),
    answer: ({ workspace, body }): SearchView => {
      const { document } = workspace;
      const found = searchRequests(document.collection.items, checked(SearchText, body).text);
      return { ids: found.map(({ path }) => document.idOf(path) ?? '') };
    },
  },
  { method: 'POST', path: at('export'), answer: exported },
  { method: 'POST', path: at('folder'), answer: listed },
];

async function importPaste({ workspace, body, folder }: WindowCall): Promise<ImportView> {
  const { text, parent } = checked(ImportText, body);
  const imported = importAny(text);
  const { format, variables, environments, warnings, errors, failed } = imported;
  const made = imported.items.length === 0 ? [] : workspace.edit((document) => document.addImported(imported, parent));
  if (environments.length > 0) {
    const beside = workspace.document.path === null ? folder : dirname(workspace.document.path);
    await workspace.changeEnvironment(async (open) => open.addImported(environments, beside));
  }
  return {
    format: format === null ? '' : IMPORT_FORMATS[format],
    made,
    variables: variables.map(({ name }) => name),
    environments: environments.map(({ name }) => name),
    warnings,
    errors,
    failed,
    document: workspace.view,
  };
}

async function exported({ workspace, body }: WindowCall): Promise<ExportView> {
  const { format, path, overwrite } = checked(ExportFile, body);
  const { text, warnings } = exportCollection(workspace.document.collection, format);
  await TextFile.create(path).write(text, { overwrite });
  return { path, warnings };
}

async function listed({ body, folder }: WindowCall): Promise<FolderView> {
  const { path } = checked(OpenFile, body);
  return await listFolder(path === '.' ? folder : path);
}
