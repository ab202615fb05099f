import { TroupeError } from '../../../protocol/errors.js';
import { HEX_BYTES, HexPlace, type HexView, JsonPathQuery } from '../../../protocol/requests/answers.js';
import { SaveBody, TakeRequest } from '../../../protocol/requests/request-window.js';
import { bodyPart, hexDump } from '../answers/body-part.js';
import { filterAnswer } from '../answers/filter-answer.js';
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
      workspace.runs.clear();
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
    path: at('history/([sr]\\d+)'),
    answer: ({ workspace, params: [id = ''] }) => workspace.history.find(id) ?? notKept(),
  },
  {
    method: 'POST',
    path: at('history/([sr]\\d+)/save'),
    answer: async ({ workspace, params: [id = ''], body }) => {
      const { path, overwrite } = checked(SaveBody, body);
      await saveBody(workspace.history.response(id) ?? notKept(), path, overwrite);
      return { path };
    },
  },
  {
    method: 'POST',
    path: at('history/([sr]\\d+)/hex'),
    answer: async ({ workspace, params: [id = ''], body }): Promise<HexView> => {
      const { offset } = checked(HexPlace, body);
      const bytes = await bodyPart(workspace.history.response(id) ?? notKept(), offset, HEX_BYTES);
      return { offset, text: hexDump(bytes, offset) };
    },
  },
  {
    method: 'POST',
    path: at('history/([sr]\\d+)/filter'),
    answer: async ({ workspace, params: [id = ''], body }) => {
      const { path } = checked(JsonPathQuery, body);
      return await filterAnswer(workspace.history.response(id) ?? notKept(), path);
    },
  },
  { method: 'GET', path: at('runs'), answer: ({ workspace }) => workspace.runs.list },
  { method: 'GET', path: at('runs/(run\\d+)'), answer: ({ workspace, params: [id = ''] }) => workspace.runs.find(id) },
];

function notKept(): never {
  throw new TroupeError('NOT_FOUND', 'This answer is no longer kept');
}
