import { z } from 'zod';
import { ModelInfo } from '../../protocol/answers.js';
import { defineRoute, type Route } from '../route.js';

export const modelRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/models',
    summary: 'Lists the models that jobs may use, the default first.',
    answer: z.array(ModelInfo),
    async handle(_input, sessions) {
      return { kind: 'json', status: 200, body: sessions.models() };
    },
  }),
];
