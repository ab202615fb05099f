import { ChooseEnvironment, EnvironmentRows, OpenFile, Overwrite } from '../../protocol/request-window.js';
import { checked } from '../checked.js';
import { changing, type WindowRoute } from './window-route.js';

const ENVIRONMENT = '(e\\d+)';

/** The open environments. */
export const ENVIRONMENT_ROUTES: readonly WindowRoute[] = [
  changing('POST', 'environments', ({ workspace, body }) =>
    workspace.changeEnvironment((environments) => environments.open(checked(OpenFile, body).path)),
  ),
  changing('POST', 'environments/new', ({ workspace, body }) =>
    workspace.changeEnvironment((environments) => environments.create(checked(OpenFile, body).path)),
  ),
  changing('PUT', 'environments/active', ({ workspace, body }) =>
    workspace.changeEnvironment(async (environments) => environments.choose(checked(ChooseEnvironment, body).id)),
  ),
  changing('PATCH', `environments/${ENVIRONMENT}`, ({ workspace, params: [id = ''], body }) =>
    workspace.editEnvironment(id, checked(EnvironmentRows, body).rows),
  ),
  changing('POST', `environments/${ENVIRONMENT}/save`, ({ workspace, params: [id = ''], body }) =>
    workspace.environments.save(id, checked(Overwrite, body).overwrite),
  ),
  changing('DELETE', `environments/${ENVIRONMENT}`, ({ workspace, params: [id = ''] }) =>
    workspace.changeEnvironment(async (environments) => environments.close(id)),
  ),
];
