import { ControlAnswer, ControlRequest } from '../../protocol/control.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

export const controlRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/control',
    summary: 'Gives a person control of a session, whose agent waits meanwhile, or the agent again.',
    body: ControlRequest,
    answer: ControlAnswer,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ body, request }, sessions) {
      const id = sessionIdOf(request);
      if (body.take) {
        const control = await sessions.doors.takeControl(id, request.caller, body.takeOver ?? false);
        return { kind: 'json', status: 200, body: { taken: true, control } };
      }
      await sessions.doors.returnControl(id);
      return { kind: 'json', status: 200, body: { taken: false } };
    },
  }),
];
