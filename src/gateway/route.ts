import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { GiveUpSignal } from '../actors/actor.js';
import type { SharedSession } from '../auth/share-links.js';
import type { Role } from '../protocol/access.js';
import type { ErrorCode } from '../protocol/errors.js';
import type { EventPage } from '../protocol/event-row.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { checkShape } from './check-shape.js';
import type { ServerName } from './http/http-server.js';
import type { McpCall } from './mcp/mcp-endpoint.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What a route's handler answers; the gateway writes it. */
export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown; readonly setCookie?: string }
  /** Another place to look, with a cookie for it (303). */
  | { readonly kind: 'redirect'; readonly location: string; readonly setCookie: string }
  /** JSON that is text already. */
  | { readonly kind: 'text'; readonly status: number; readonly contentType: string; readonly text: string }
  | {
      readonly kind: 'stream';
      readonly contentType: string;
      /** The name that a browser saves it under. */
      readonly fileName: string;
      readonly stream: Readable;
      /** The exact length where it is known. */
      readonly bytes?: number;
    }
  /** A file of the dashboard. */
  | {
      readonly kind: 'page';
      readonly contentType: string;
      readonly body: Buffer;
      readonly gzip: boolean;
      readonly immutable: boolean;
    }
  /** Something of a session to be looked at, not saved: pages chose what is in it, so it may load and run nothing. */
  | {
      readonly kind: 'picture';
      readonly contentType: 'image/png' | 'text/html; charset=utf-8';
      readonly stream: Readable;
      readonly bytes: number;
    }
  | {
      readonly kind: 'events';
      readonly open: (signal: AbortSignal) => AsyncIterable<EventPage>;
      /** The stream has an end that was reached before: with no event left the answer is 204, and readers stop asking. */
      readonly finite: boolean;
      /** Who may have so many streams open at once; see {@link RouteRequest.caller}. */
      readonly caller: string;
    }
  /** The MCP endpoint answers. */
  | { readonly kind: 'mcp'; readonly call: McpCall };

/** A request as handlers see it: everything was read before the first await. */
export interface RouteRequest {
  /** Decoded; null where the percent-encoding is broken. */
  readonly params: { readonly [name: string]: string | null };
  readonly query: URLSearchParams;
  /** The headers that the route asked for, by their lower-case names; empty where there is none. */
  readonly headers: { readonly [name: string]: string };
  /** `http://` and the Host header, which was checked: what the client calls this service. */
  readonly base: string;
  /** What people elsewhere call it: `publicUrl` where it is configured. No slash at the end. */
  readonly publicBase: string;
  /** The parsed body of a route with `body: 'json'`; an empty one is `{}`. */
  readonly json: unknown;
  /** The body of a route with `body: 'bytes'`; else empty. */
  readonly bytes: Buffer;
  /** The body of a route with `body: 'stream'`. */
  readonly upload: Readable | null;
  /** Who asks, among callers that take turns: its token, else the address that the request came from. */
  readonly caller: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The same for those who only ask an actor: it costs next to nothing. */
  readonly gone: GiveUpSignal;
  /** The service's numbers, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Which HTTP server received it. */
  readonly server: ServerName;
  /** There is an admin beside the tokens that were made. */
  readonly hasConfiguredAdmin: boolean;
  /** The cookie that lets this browser in. @throws UNAUTHORIZED */
  signIn(token: string): string;
  /** The cookie that ends it. */
  signOut(): string;
  /** The cookie that shows this browser what a link shows. */
  acceptLink(link: string, shared: SharedSession): string;
}

/** One route: all that the gateway, its tests and the API description know of it. */
export interface Route {
  readonly method: Method;
  /** `{name}` stands for one segment. */
  readonly path: string;
  /** One sentence for people. */
  readonly summary: string;
  /** What the caller must be at least; null where it needs no token, since it tells nothing of the service's. */
  readonly role: Role | null;
  /** Opened by a link to its session. */
  readonly shared: boolean;
  /** Something is another than before. What a script does is told in its session's transcript, and is no such change. */
  readonly changes: boolean;
  readonly body: 'none' | 'json' | 'bytes' | 'stream';
  readonly maxBodyBytes: number;
  readonly bodySchema: z.ZodType | null;
  readonly querySchema: z.ZodType | null;
  /** The status of a success. */
  readonly status: number;
  /** What a success holds: the schema of its JSON, or the content type of what is no JSON. */
  readonly answer: z.ZodType | string;
  /** Further answers by their status, and what each means. */
  readonly also: { readonly [status: number]: string };
  /** Codes that it fails with, beside those that follow from its form. */
  readonly errors: readonly ErrorCode[];
  /** Request headers that the handler reads. */
  readonly headers: readonly string[];
  /** Where an error's status is not the table's. */
  readonly errorStatus: { readonly [Code in ErrorCode]?: number };
  handle(request: RouteRequest, sessions: Sessions): Promise<Answer>;
}

const JSON_BODY_BYTES = 1024 * 1024;

interface RouteSpec<B extends z.ZodType, Q extends z.ZodType> {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  /** Left out: `view` for GET, `run` for the others. */
  readonly role?: Role | null;
  readonly shared?: true;
  /** Left out: all but GET do. */
  readonly changes?: false;
  readonly status?: number;
  readonly answer: z.ZodType | string;
  readonly also?: Route['also'];
  readonly errors?: readonly ErrorCode[];
  readonly body?: B;
  /** The longest JSON body, where it is not 1 MiB. */
  readonly jsonBytes?: number;
  /** A body that is not JSON, at most this long. */
  readonly uploadBytes?: number;
  /** A body that the handler reads as it is, at most this long. */
  readonly bytes?: number;
  readonly query?: Q;
  readonly headers?: readonly string[];
  readonly errorStatus?: Route['errorStatus'];
  handle(input: RouteInput<B, Q>, sessions: Sessions): Promise<Answer>;
}

interface RouteInput<B extends z.ZodType, Q extends z.ZodType> {
  readonly body: z.output<B>;
  readonly query: z.output<Q>;
  readonly request: RouteRequest;
}

/** Ties a handler to its schemas, so that it gets what they promise. The handler throws INVALID_REQUEST otherwise. */
export function defineRoute<B extends z.ZodType = z.ZodType<undefined>, Q extends z.ZodType = z.ZodType<undefined>>(
  spec: RouteSpec<B, Q>,
): Route {
  const { body, query } = spec;
  return {
    method: spec.method,
    path: spec.path,
    summary: spec.summary,
    role: spec.role === undefined ? defaultRole(spec.method) : spec.role,
    shared: spec.shared ?? false,
    changes: spec.changes ?? spec.method !== 'GET',
    body: bodyKind(spec),
    maxBodyBytes: spec.uploadBytes ?? spec.bytes ?? spec.jsonBytes ?? JSON_BODY_BYTES,
    bodySchema: body ?? null,
    querySchema: query ?? null,
    status: spec.status ?? 200,
    answer: spec.answer,
    also: spec.also ?? {},
    errors: spec.errors ?? [],
    headers: spec.headers ?? [],
    errorStatus: spec.errorStatus ?? {},
    async handle(request, sessions) {
      return await spec.handle(
        {
          // Without a schema the type is undefined, and so is the value.
          body: (body ? checkShape(body, request.json, 'body') : undefined) as z.output<B>,
          query: (query ? checkShape(query, queryObject(request.query), 'query') : undefined) as z.output<Q>,
          request,
        },
        sessions,
      );
    },
  };
}

function defaultRole(method: Method): Role {
  return method === 'GET' ? 'view' : 'run';
}

function bodyKind({ body, bytes, uploadBytes }: RouteSpec<z.ZodType, z.ZodType>): Route['body'] {
  if (body) return 'json';
  if (bytes !== undefined) return 'bytes';
  return uploadBytes === undefined ? 'none' : 'stream';
}

/** A name given twice becomes an array, which the schemas refuse by name. */
function queryObject(query: URLSearchParams): { [name: string]: string | string[] } {
  const object: { [name: string]: string | string[] } = Object.create(null);
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    object[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return object;
}
