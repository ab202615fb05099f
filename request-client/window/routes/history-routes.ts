import { TroupeError } from '#troupe/protocol/errors.js';
import { SaveBody, TakeRequest } from '../../protocol/request-window.js';
import { checked } from '../checked.js';
import { saveBody } from '../save-body.js';
import { at, type WindowRoute } from './window-route.js';

/** The sent requests. The bytes of a body have a route of their own, see {@link sendBody}. */
export const HISTORY_ROUTES: readonly WindowRoute[] = [
  { method: 'GET', path: at('history'), answer: ({ workspace }) => workspace.history.lines },
  {
    method: 'DELETE',
    path: at('history'),
    answer: async ({ workspace }) => {
      await workspace.history.clear();
      return workspace.history.lines;
    },
  },
  {
    method: 'POST',
    path: at('history/(h\\d+)/take'),
    answer: ({ workspace, params: [id = ''], body }) => {
      const made = workspace.takeFromHistory(id, checked(TakeRequest, body).parent);
      return { id: made, document: workspace.view };
    },
  },
  {
    method: 'GET',
    path: at('history/(s\\d+)'),
    answer: ({ workspace, params: [id = ''] }) => workspace.history.answers.find(id) ?? notKept(),
  },
  {
    method: 'POST',
    path: at('history/(s\\d+)/save'),
    answer: async ({ workspace, params: [id = ''], body }) => {
      const { path, overwrite } = checked(SaveBody, body);
      await saveBody(workspace.history.answers.response(id) ?? notKept(), path, overwrite);
      return { path };
    },
  },
];

function notKept(): never {
  throw new TroupeError('NOT_FOUND', 'This response is no longer stored');
}
