import { z } from 'zod';
import { CreatedToken, RevokedToken, TokenInfo, TokenRequest } from '../../protocol/access.js';
import { defineRoute, type Route } from '../route.js';

export const tokenRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Makes an access token; its secret is in this answer alone.',
    role: 'admin',
    status: 201,
    body: TokenRequest,
    answer: CreatedToken,
    errors: ['CAPACITY'],
    async handle({ body, request }, { tokens }) {
      return { kind: 'json', status: 201, body: await tokens.create(body, request.hasConfiguredAdmin) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/tokens',
    summary: 'Lists the access tokens, without their secrets.',
    role: 'admin',
    answer: z.array(TokenInfo),
    async handle(_input, { tokens }) {
      return { kind: 'json', status: 200, body: tokens.list() };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/tokens/{id}',
    summary: 'Revokes an access token; what it began goes on.',
    role: 'admin',
    answer: RevokedToken,
    errors: ['INVALID_REQUEST'],
    async handle({ request }, { tokens }) {
      const id = request.params.id ?? '';
      await tokens.revoke(id, request.hasConfiguredAdmin);
      return { kind: 'json', status: 200, body: { id, revoked: true } };
    },
  }),
];
