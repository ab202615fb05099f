import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi-document.js';
import { defineRoute, type Route } from '../route.js';

/**
 * The description of the API.
 * @param all returns every route of the service, this one included; called for the first client
 */
export function openApiRoutes(all: () => readonly Route[]): readonly Route[] {
  let text: string | null = null;
  return [
    defineRoute({
      method: 'GET',
      path: '/api/openapi.json',
      summary: 'This description of the API, for programs: OpenAPI 3.1.',
      answer: z.looseObject({ openapi: z.literal('3.1.0') }),
      async handle(_input, sessions) {
        text ??= JSON.stringify(openApiDocument(all(), sessions.health().version));
        return { kind: 'text', status: 200, contentType: 'application/json', text };
      },
    }),
  ];
}
