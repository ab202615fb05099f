import { z } from 'zod';
import { ControlAnswer, ControlRequest } from '../../protocol/control.js';
import { TroupeError } from '../../protocol/errors.js';
import { AnsweredHandoff, HandoffRequest } from '../../protocol/person/handoff.js';
import { PROTOCOL_VERSION, socketBase } from '../browserless/devtools-version.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** For clients that get the session's HTTP address: the address of the WebSocket, in the form of Chrome's answer. */
const Version = z.object({
  Browser: z.string(),
  'Protocol-Version': z.string(),
  webSocketDebuggerUrl: z.string(),
});

/** Playwright requests it with a trailing slash, other clients without. */
const devToolsRoutes = (publicBase: string | undefined): readonly Route[] =>
  ['', '/'].map((slash) =>
    defineRoute({
      method: 'GET',
      path: `/sessions/{id}/cdp/json/version${slash}`,
      summary:
        "The WebSocket address of the session's browser, for DevTools protocol clients that discover it over HTTP.",
      role: 'run',
      answer: Version,
      errors: ['SESSION_BUSY', 'SESSION_ENDED'],
      async handle({ request }, sessions) {
        const id = sessionIdOf(request);
        // An unknown session is NOT_FOUND, an ended one SESSION_ENDED.
        await sessions.get(id);
        const { product } = sessions.connections.devTools(id, undefined);
        const webSocketDebuggerUrl = `${socketBase(publicBase ?? request.base)}/sessions/${id}/cdp`;
        const body = { Browser: product, 'Protocol-Version': PROTOCOL_VERSION, webSocketDebuggerUrl };
        return { kind: 'json', status: 200, body };
      },
    }),
  );

/** @param publicBase see `Access.publicBase` */
export const controlRoutes = (publicBase: string | undefined): readonly Route[] => [
  ...devToolsRoutes(publicBase),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/control',
    summary: 'Gives control of a session to a person, while its agent waits, or returns it to the agent.',
    forHandoff: true,
    body: ControlRequest,
    answer: ControlAnswer,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ body, request }, sessions) {
      const id = sessionIdOf(request);
      const { handoff } = request;
      if (handoff !== null && (body.take ? body.takeOver : body.control === undefined)) {
        throw new TroupeError(
          'FORBIDDEN',
          'A link of a handoff gives control if nobody else has it, and releases it with the key in "control"',
        );
      }
      if (body.take) {
        const control = await sessions.connections.takeControl(id, request.caller, body.takeOver ?? false, handoff);
        return { kind: 'json', status: 200, body: { taken: true, control } };
      }
      await sessions.connections.returnControl(id, body.control);
      return { kind: 'json', status: 200, body: { taken: false } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/handoff',
    summary: 'Answers what a script asks a person to do (agent.handoff); releases control, if a person has it.',
    forHandoff: true,
    body: HandoffRequest,
    answer: AnsweredHandoff,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ body, request }, sessions) {
      // A link is for one handoff: the next one of the session is not its own.
      const meant = request.handoff === null ? body : { ...body, handoff: body.handoff ?? request.handoff };
      if (request.handoff !== null && meant.handoff !== request.handoff) {
        throw new TroupeError('FORBIDDEN', 'This link is for another handoff');
      }
      const { id } = await sessions.connections.answerHandoff(sessionIdOf(request), meant, request.caller);
      return { kind: 'json', status: 200, body: { id, answer: body.answer } };
    },
  }),
];
