import { z } from 'zod';
import { SessionFile } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { fileNameOf, sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

const UPLOAD_BYTES = 100 * 1024 * 1024;

export const fileRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/files',
    summary: "Lists a session's files: the browser's downloads, and files to upload.",
    answer: z.array(SessionFile),
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.artifacts.list(sessionIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/files/{name}',
    summary: 'One file of a session.',
    answer: 'application/octet-stream',
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      const name = fileNameOf(request);
      const { bytes, stream } = await sessions.artifacts.read(id, name);
      // Pages chose the content of these files: browsers save them and never display them as a page of this service.
      return { kind: 'stream', contentType: 'application/octet-stream', fileName: name, stream, bytes };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/sessions/{id}/files/{name}',
    summary: 'Stores a file for the browser to upload.',
    status: 201,
    uploadBytes: UPLOAD_BYTES,
    answer: SessionFile,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      const name = fileNameOf(request);
      if (!request.upload) throw new TroupeError('INTERNAL', 'The route has no body');
      return { kind: 'json', status: 201, body: await sessions.artifacts.write(id, name, request.upload) };
    },
  }),
];
