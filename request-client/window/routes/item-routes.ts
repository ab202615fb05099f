import { CodeOptions } from '../../protocol/request-exports.js';
import { CurlOptions, GroupEdit, MoveItem, NewItem, RequestEdit, RunOptions } from '../../protocol/request-window.js';
import { checked } from '../checked.js';
import { ANY_ITEM, at, changing, ITEM, type WindowRoute } from './window-route.js';

/** Requests and folders: the tree, their forms and actions. */
export const ITEM_ROUTES: readonly WindowRoute[] = [
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
  changing('POST', `items/${ITEM}/move`, ({ workspace, params: [id = ''], body }) => {
    const { parent, index } = checked(MoveItem, body);
    workspace.document.move(id, parent, index);
  }),
  changing('DELETE', `items/${ITEM}`, ({ workspace, params: [id = ''] }) => workspace.document.remove(id)),
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
    path: at(`groups/${ANY_ITEM}`),
    answer: ({ workspace, params: [id = ''] }) => workspace.document.groupForm(id),
  },
  changing('PATCH', `groups/${ANY_ITEM}`, ({ workspace, params: [id = ''], body }) =>
    workspace.editGroup(id, checked(GroupEdit, body)),
  ),
  {
    method: 'POST',
    path: at(`items/${ITEM}/curl`),
    answer: ({ workspace, params: [id = ''], body }) => workspace.curlOf(id, checked(CurlOptions, body)),
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/code`),
    answer: ({ workspace, params: [id = ''], body }) => workspace.codeOf(id, checked(CodeOptions, body)),
  },
  {
    method: 'POST',
    path: at(`items/${ITEM}/send`),
    follow: ({ workspace, params: [id = ''] }, report, signal) => workspace.send(id, report, signal),
  },
  {
    method: 'POST',
    path: at(`items/${ANY_ITEM}/run`),
    follow: ({ workspace, params: [id = ''], body }, report, signal) =>
      workspace.run(id, checked(RunOptions, body), report, signal),
  },
  {
    method: 'POST',
    path: at(`items/${ANY_ITEM}/token`),
    follow: ({ workspace, params: [id = ''] }, report, signal) => workspace.newToken(id, report, signal),
  },
  {
    method: 'GET',
    path: at(`items/${ANY_ITEM}/token`),
    answer: ({ workspace, params: [id = ''] }) => workspace.token(id),
  },
  {
    method: 'DELETE',
    path: at(`items/${ANY_ITEM}/token`),
    answer: ({ workspace, params: [id = ''] }) => workspace.forgetToken(id),
  },
];
