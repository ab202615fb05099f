import { TroupeError } from '../../../protocol/errors.js';
import { RenameExample, SaveExample } from '../../../protocol/requests/answers.js';
import { answerToSave } from '../answers/save-example.js';
import { checked } from '../checked.js';
import { at, changing, ITEM, type WindowRoute } from './window-route.js';

const EXAMPLE = `items/${ITEM}/examples/(\\d+)`;

/** The answers that are saved with a request, numbered from 0. */
export const EXAMPLE_ROUTES: readonly WindowRoute[] = [
  changing('POST', `items/${ITEM}/examples`, async ({ workspace, params: [id = ''], body }) => {
    const { sentId, name } = checked(SaveExample, body);
    const response = workspace.history.response(sentId);
    if (response === undefined) throw new TroupeError('NOT_FOUND', 'This answer is no longer kept');
    workspace.document.addExample(id, name, await answerToSave(response));
  }),
  {
    method: 'GET',
    path: at(EXAMPLE),
    answer: ({ workspace, params: [id = '', index] }) => workspace.document.example(id, Number(index)),
  },
  changing('PATCH', EXAMPLE, ({ workspace, params: [id = '', index], body }) =>
    workspace.document.renameExample(id, Number(index), checked(RenameExample, body).name),
  ),
  changing('DELETE', EXAMPLE, ({ workspace, params: [id = '', index] }) =>
    workspace.document.removeExample(id, Number(index)),
  ),
];
