import { z } from 'zod';
import { SignedIn } from '../../protocol/answers.js';
import { defineRoute, type Route } from '../route.js';

const Login = z.strictObject({ token: z.string().min(1).max(1000) });

export const loginRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/login',
    summary: 'Lets a browser in that brings the token: with a cookie, for 30 days.',
    role: null,
    body: Login,
    answer: SignedIn,
    errors: ['UNAUTHORIZED'],
    async handle({ body, request }) {
      return { kind: 'json', status: 200, body: { signedIn: true }, setCookie: request.signIn(body.token) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/login',
    summary: 'Takes the cookie back.',
    role: null,
    answer: SignedIn,
    async handle({ request }) {
      return { kind: 'json', status: 200, body: { signedIn: false }, setCookie: request.signOut() };
    },
  }),
];
