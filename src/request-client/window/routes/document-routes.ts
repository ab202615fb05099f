import { type FolderView, ImportText, type ImportView, OpenFile, SaveFile } from '../../../protocol/request-window.js';
import { importCurl } from '../../curl-import/import-curl.js';
import { checked } from '../checked.js';
import { listFolder } from '../list-folder.js';
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
  { method: 'POST', path: at('folder'), answer: listed },
];

function importPaste({ workspace, body }: WindowCall): ImportView {
  const { text, parent } = checked(ImportText, body);
  const imported = importCurl(text);
  const made =
    imported.requests.length === 0 ? [] : workspace.edit((document) => document.addImported(imported, parent));
  const { variables, warnings, errors, failed } = imported;
  return { made, variables: variables.map(({ name }) => name), warnings, errors, failed, document: workspace.view };
}

async function listed({ body, folder }: WindowCall): Promise<FolderView> {
  const { path } = checked(OpenFile, body);
  return await listFolder(path === '.' ? folder : path);
}
