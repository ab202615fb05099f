import { z } from 'zod';
import { SessionArtifact } from '../../protocol/answers.js';
import { ApprovedBaseline, BaselineApproval } from '../../protocol/baseline.js';
import { TroupeError } from '../../protocol/errors.js';
import { byteRange } from '../byte-range.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

const RANGE = 'range';

/** Kinds that the dashboard displays. Everything else is saved: pages chose what is in it. */
const DISPLAYED: readonly (readonly [RegExp, string])[] = [
  [/^video(-\d+)?\.mp4$/, 'video/mp4'],
  [/^screenshots\/.*\.png$/s, 'image/png'],
];

export const artifactRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/artifacts',
    summary: "Lists a session's artifacts: report, network log, pictures, videos, downloads.",
    answer: z.array(SessionArtifact),
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.artifacts.artifacts(sessionIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/artifacts/{path...}',
    summary: 'One artifact of a session, or a range of its bytes.',
    answer: 'application/octet-stream',
    headers: [RANGE],
    also: {
      206: 'The bytes that the Range header asks for.',
      416: 'The Range header asks for bytes that do not exist.',
    },
    async handle({ request }, sessions) {
      const { path } = request.params;
      if (path === null || path === undefined) {
        throw new TroupeError('NOT_FOUND', 'There is no such artifact: the percent-encoding of its path is malformed');
      }
      const file = await sessions.artifacts.artifact(sessionIdOf(request), path);
      const asked = byteRange(request.headers[RANGE] ?? '', file.bytes);
      const contentType = DISPLAYED.find(([pattern]) => pattern.test(path))?.[1] ?? null;
      const fileName = path.slice(path.lastIndexOf('/') + 1);
      const range = asked === 'unsatisfiable' ? null : (asked ?? undefined);
      return { kind: 'artifact', contentType, fileName, bytes: file.bytes, range, open: file.open, close: file.close };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/baselines',
    summary: 'Stores the picture of a failed agent.expectScreenshot as its baseline.',
    role: 'admin',
    body: BaselineApproval,
    answer: ApprovedBaseline,
    errors: ['PRECONDITION_FAILED'],
    async handle({ body, request }, sessions) {
      const approved = await sessions.artifacts.approveBaseline(sessionIdOf(request), body.baseline);
      return { kind: 'json', status: 200, body: approved };
    },
  }),
];
