import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { GiveUpSignal } from '../actors/actor.js';
import type { Role } from '../protocol/access.js';
import type { ErrorCode } from '../protocol/errors.js';
import type { EventPage } from '../protocol/event-row.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { checkShape } from './check-shape.js';
import type { McpCall } from './mcp/mcp-endpoint.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What a route's handler returns; the gateway writes it. */
export type Answer =
  /** `next`: the path of the next page of a list. */
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly setCookie?: string;
      readonly next?: string;
      readonly etag?: string;
    }
  /** A redirect to another location, with a cookie for it (303). */
  | { readonly kind: 'redirect'; readonly location: string; readonly setCookie: string }
  /** An answer that is already text, such as encoded JSON. */
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly contentType: string;
      readonly text: string;
      readonly etag?: string;
    }
  | {
      readonly kind: 'stream';
      readonly contentType: string;
      /** The file name under which a browser saves it. */
      readonly fileName: string;
      readonly stream: Readable;
      /** The exact length, if known. */
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
  /** Content of a session to view, not to save. Pages chose what is in it, so it may load and run nothing. */
  | {
      readonly kind: 'picture';
      readonly contentType: string;
      readonly stream: Readable;
      readonly bytes: number;
    }
  /** A file of a session, of which clients may ask for a part. */
  | {
      readonly kind: 'artifact';
      /** Null: it is saved rather than displayed. */
      readonly contentType: string | null;
      readonly fileName: string;
      readonly bytes: number;
      /** The bytes to send, both ends included; null if those that were asked for do not exist. Absent: all. */
      readonly range?: { readonly start: number; readonly end: number } | null | undefined;
      /** Called at most once. */
      open(range: { readonly start: number; readonly end: number }): Readable;
      /** Called if `open` is not. */
      close(): Promise<void>;
    }
  | {
      readonly kind: 'events';
      readonly open: (signal: AbortSignal) => AsyncIterable<EventPage>;
      /** The stream ends. If no event is left, the answer is 204 and clients stop reconnecting. */
      readonly finite: boolean;
      /** The caller whose open streams are limited; see {@link RouteRequest.caller}. */
      readonly caller: string;
    }
  /** The MCP endpoint answers. */
  | { readonly kind: 'mcp'; readonly call: McpCall };

/** A request as handlers see it. Everything of the native request was read before the first await. */
export interface RouteRequest {
  /** Decoded; null if the percent-encoding is malformed. */
  readonly params: { readonly [name: string]: string | null };
  readonly query: URLSearchParams;
  /** The headers that the route declares, by lower-case name; '' for an absent one. */
  readonly headers: { readonly [name: string]: string };
  /** The Host header, already checked. */
  readonly host: string;
  /** `http://` and {@link host}: the address that the client uses. */
  readonly base: string;
  /** The parsed body of a route with `body: 'json'`; `{}` for an empty one. */
  readonly json: unknown;
  /** The body of a route with `body: 'bytes'`; else empty. */
  readonly bytes: Buffer;
  /** The body of a route with `body: 'stream'`. */
  readonly upload: Readable | null;
  /** The caller for fair scheduling and limits: its token, else the address that the request came from. */
  readonly caller: string;
  /** The open handoff of the session whose link admitted the request; null if a token did, or none is required. */
  readonly handoff: string | null;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The same for handlers that only ask an actor; cheaper than `signal`. */
  readonly gone: GiveUpSignal;
}

/** One route: everything that the gateway, its tests and the API description need to know. */
export interface Route {
  readonly method: Method;
  /** `{name}` stands for one segment. */
  readonly path: string;
  /** One sentence for people. */
  readonly summary: string;
  /** The caller's least role; null if no token is needed, because the answer reveals nothing about the service. */
  readonly role: Role | null;
  /** A share link gives access to it, for the link's session. */
  readonly shared: boolean;
  /** A link of an open handoff gives access to it, for the link's session. */
  readonly forHandoff: boolean;
  /**
   * The request is written to the audit log because it changes something. Scripts are not: the session's transcript has
   * them.
   */
  readonly changes: boolean;
  readonly body: 'none' | 'json' | 'bytes' | 'stream';
  readonly maxBodyBytes: number;
  readonly bodySchema: z.ZodType | null;
  readonly querySchema: z.ZodType | null;
  /** The status of a success. */
  readonly status: number;
  /** The body of a success: the schema of its JSON, or the content type of anything else. */
  readonly answer: z.ZodType | string;
  /** The answer is a page of a list: its header `Link` names the next one. */
  readonly isPaged: boolean;
  /** Its header `ETag` identifies the content. */
  readonly hasEtag: boolean;
  /** Further answers by status, with their meanings. */
  readonly also: { readonly [status: number]: string };
  /** Error codes besides those that follow from the route's form. */
  readonly errors: readonly ErrorCode[];
  /** Request headers that the handler reads. */
  readonly headers: readonly string[];
  /** Statuses that differ from the error table. */
  readonly errorStatus: { readonly [Code in ErrorCode]?: number };
  handle(request: RouteRequest, sessions: Sessions): Promise<Answer>;
}

const JSON_BODY_BYTES = 1024 * 1024;

interface RouteSpec<B extends z.ZodType, Q extends z.ZodType> {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  /** By default `view` for GET and `run` for others. */
  readonly role?: Role | null;
  readonly shared?: true;
  readonly forHandoff?: true;
  /** By default true for all methods but GET. */
  readonly changes?: false;
  readonly status?: number;
  readonly answer: z.ZodType | string;
  readonly isPaged?: true;
  readonly hasEtag?: true;
  readonly also?: Route['also'];
  readonly errors?: readonly ErrorCode[];
  readonly body?: B;
  /** The longest JSON body in bytes, if not 1 MiB. */
  readonly jsonBytes?: number;
  /** The longest body in bytes, for a body that is streamed. */
  readonly uploadBytes?: number;
  /** The longest body in bytes, for a body that the handler gets as bytes. */
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

/**
 * Binds a handler to its schemas: it gets what they promise, and a request that does not match fails with
 * INVALID_REQUEST.
 */
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
    forHandoff: spec.forHandoff ?? false,
    changes: spec.changes ?? spec.method !== 'GET',
    body: bodyKind(spec),
    maxBodyBytes: spec.uploadBytes ?? spec.bytes ?? spec.jsonBytes ?? JSON_BODY_BYTES,
    bodySchema: body ?? null,
    querySchema: query ?? null,
    status: spec.status ?? 200,
    answer: spec.answer,
    isPaged: spec.isPaged ?? false,
    hasEtag: spec.hasEtag ?? false,
    also: spec.also ?? {},
    errors: spec.errors ?? [],
    headers: spec.headers ?? [],
    errorStatus: spec.errorStatus ?? {},
    async handle(request, sessions) {
      return await spec.handle(
        {
          // Without a schema, type and value are both undefined.
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

/** A parameter given twice becomes an array, which the schemas reject by name. */
function queryObject(query: URLSearchParams): { [name: string]: string | string[] } {
  const object: { [name: string]: string | string[] } = Object.create(null);
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    object[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return object;
}
