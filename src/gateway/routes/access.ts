import { z } from 'zod';
import { CreatedToken, RevokedToken, TokenInfo, TokenRequest } from '../../protocol/access.js';
import { ServiceProof, SignedIn } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { LoginState, RemovedState, StateName } from '../../protocol/login-state.js';
import { ShareLink, ShareRequest } from '../../protocol/share.js';
import type { Credentials } from '../credentials.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** 32 random bytes in base64url. */
const ProofQuery = z.strictObject({ challenge: z.string().regex(/^[\w-]{43}$/, '32 random bytes in base64url') });

const Login = z.strictObject({ token: z.string().min(1).max(1000) });

const DEFAULT_SECONDS = 24 * 3600;

/** What decides who may use the service, and where people reach it. */
export interface Access {
  readonly credentials: Credentials;
  /** The address for other people; without it, the one that the client uses. Without a slash at the end. */
  readonly publicBase: string | undefined;
  /** The answer to a challenge, see `client/local-service/service-proof.ts`; null if the service has no secret for it. */
  prove(challenge: string): string | null;
}

export const accessRoutes = (access: Access): readonly Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/proof',
    summary: 'Proves to a client of the same user that this is the service that wrote its file service.json.',
    role: null,
    query: ProofQuery,
    answer: ServiceProof,
    errors: ['NOT_FOUND'],
    async handle({ query }) {
      const proof = access.prove(query.challenge);
      if (proof === null) throw new TroupeError('NOT_FOUND', 'This service has no file that clients find it by');
      return { kind: 'json', status: 200, body: { proof } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/login',
    summary: 'Signs a browser in with a token: sets a cookie for 30 days.',
    role: null,
    body: Login,
    answer: SignedIn,
    errors: ['UNAUTHORIZED'],
    async handle({ body, request }, { tokens }) {
      const setCookie = access.credentials.signIn(body.token, request.host, tokens);
      return { kind: 'json', status: 200, body: { signedIn: true }, setCookie };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/login',
    summary: 'Signs a browser out: removes the cookie.',
    role: null,
    answer: SignedIn,
    async handle({ request }) {
      const setCookie = access.credentials.signOut(request.host);
      return { kind: 'json', status: 200, body: { signedIn: false }, setCookie };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Creates an access token; only this answer contains its secret.',
    role: 'admin',
    status: 201,
    body: TokenRequest,
    answer: CreatedToken,
    errors: ['CAPACITY'],
    async handle({ body }, { tokens }) {
      return { kind: 'json', status: 201, body: await tokens.create(body, access.credentials.configured) };
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
    summary: 'Revokes an access token; sessions that it started continue.',
    role: 'admin',
    answer: RevokedToken,
    errors: ['INVALID_REQUEST'],
    async handle({ request }, { tokens }) {
      const id = request.params.id ?? '';
      await tokens.revoke(id, access.credentials.configured);
      return { kind: 'json', status: 200, body: { id, revoked: true } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/links',
    summary: 'Creates a share link: view-only access to this session for people without a token.',
    status: 201,
    body: ShareRequest,
    answer: ShareLink,
    async handle({ body, request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      const made = sessions.links.make(id, body.expiresIn ?? DEFAULT_SECONDS);
      const base = access.publicBase ?? request.base;
      return { kind: 'json', status: 201, body: { url: `${base}/shared/${made.link}`, ...made } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/shared/{link}',
    summary: 'Opens a share link or the link of a handoff: sets a cookie and redirects to the page of its session.',
    role: null,
    status: 303,
    answer: 'text/html; charset=utf-8',
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
    async handle({ request }, sessions) {
      const link = request.params.link ?? '';
      const shared = sessions.links.read(link) ?? sessions.handoffLinks.verify(link);
      if (shared === null)
        throw new TroupeError('UNAUTHORIZED', 'The link is not valid or has expired; ask for a new one');
      const { handoff } = shared;
      if (handoff !== null && sessions.connections.openHandoff(shared.id) !== handoff) {
        throw new TroupeError('FORBIDDEN', 'The script no longer waits for a person, so this link no longer works');
      }
      const { id } = await sessions.get(shared.id);
      return {
        kind: 'redirect',
        location: `/#/sessions/${id}`,
        setCookie: access.credentials.acceptLink(link, shared, request.host),
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/states',
    summary: 'Lists the login states that the caller can use, without what is in them.',
    role: 'run',
    answer: z.array(LoginState),
    async handle({ request }, { states }) {
      return { kind: 'json', status: 200, body: await states.list(request.caller) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/states/{name}',
    summary: "Removes the caller's login state of this name; for an admin, those of all tokens.",
    answer: RemovedState,
    async handle({ request }, { states }) {
      const name = StateName.safeParse(request.params.name);
      if (!name.success)
        throw new TroupeError('INVALID_REQUEST', 'The name of a state has 1 to 100 letters, digits, and _ . -');
      const removed = await states.remove(request.caller, name.data);
      return { kind: 'json', status: 200, body: { name: name.data, removed } };
    },
  }),
];
