import { dirname } from 'node:path';
import { ExportFile, type ExportView, WritePage } from '../../../protocol/requests/request-exports.js';
import {
  type FolderView,
  ImportText,
  type ImportView,
  ListFolder,
  OpenFile,
  SaveFile,
  SearchText,
  type SearchView,
} from '../../../protocol/requests/request-window.js';
import { member } from '../../collection/json-access.js';
import { TextFile } from '../../collection/text-file.js';
import { collectionPage } from '../../exports/collection-page.js';
import { exportCollection } from '../../exports/export-collection.js';
import { importAny } from '../../imports/import-any.js';
import { IMPORT_FORMATS } from '../../imports/imported.js';
import { checked } from '../checked.js';
import { listFolder } from '../list-folder.js';
import { placesOf, searchRequests } from '../search-requests.js';
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
      const { text } = checked(SearchText, body);
      const found = searchRequests(document.collection.items, text);
      return { hits: found.map((node) => ({ id: document.idOf(node.path) ?? '', where: placesOf(node, text) })) };
    },
  },
  { method: 'POST', path: at('export'), answer: exported },
  {
    method: 'POST',
    path: at('documentation'),
    answer: async ({ workspace, body }): Promise<ExportView> => {
      const { path, overwrite } = checked(WritePage, body);
      await TextFile.create(path).write(collectionPage(workspace.document.collection), { overwrite });
      return { path, warnings: [] };
    },
  },
  { method: 'POST', path: at('folder'), answer: listed },
];

async function importPaste({ workspace, body, folder }: WindowCall): Promise<ImportView> {
  const { text, parent, into } = checked(ImportText, body);
  const imported = importAny(text);
  const { format, variables, environments, warnings, errors, failed } = imported;
  const [item] = imported.items;
  const fills = into !== null && imported.items.length === 1 && member(item, 'request') !== undefined;
  const made =
    item === undefined
      ? []
      : workspace.edit((document) =>
          fills && variables.length === 0 ? document.fill(into, item) : document.addImported(imported, parent),
        );
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
  const { path, all } = checked(ListFolder, body);
  return await listFolder(path === '.' ? folder : path, all);
}
