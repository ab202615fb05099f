import { ERROR_TABLE, type ErrorCode } from '../../protocol/errors.js';
import type { Route } from '../route.js';
import { EXAMPLES, type Example, parameterExample } from './examples.js';
import { routeErrors } from './route-errors.js';
import { type JsonObject, SchemaBook } from './schema-book.js';
import { byTopic, TOPICS, topicOf } from './topics.js';

const ABOUT = `Self-hosted browser sessions. Bodies are JSON whatever their Content-Type, errors are
\`{error, code, details?}\`, and unknown fields are refused by name. WebSockets (\`/api/stream\` and those of a session) are
described in docs/http-api.md.`;

/** Descriptions of request headers; those without one are described otherwise. */
const HEADERS: { readonly [name: string]: string } = {
  'idempotency-key': 'A repeated request with the same key returns the first response and creates nothing.',
  'if-match': 'The file is replaced only if it still has this `ETag`; `*`: only if it exists.',
  'if-none-match': '`*`: the file is created only if it does not exist.',
  'last-event-id': 'The sequence number of the last event that the client has.',
  'mcp-session-id': 'The MCP session, from the response to `initialize`.',
  'mcp-protocol-version': 'The negotiated protocol revision, or that of a request without a session.',
  'mcp-method': 'The method of a request without a session.',
  'mcp-name': 'The tool or task that a request without a session names.',
};

/** Schemas of path parameters. */
const PARAMETERS: { readonly [name: string]: JsonObject } = {
  id: { type: 'string', pattern: '^[a-z0-9]{12}$' },
  name: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Operations besides DELETE that overwrite or end what cannot be brought back. */
const DESTRUCTIVE: readonly string[] = [
  'POST /api/nodes/{id}/drain',
  'POST /api/sessions/{id}/baselines',
  'PUT /api/flows/{path...}',
];

/**
 * The OpenAPI 3.1 document of the routes, generated from the schemas that validate requests. Its extensions are
 * `x-role`, the least role of a caller; `x-destructive`, for which clients ask people again; and `x-slashes`, for a path
 * parameter that is several segments.
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const book = new SchemaBook();
  const paths: { [path: string]: { [method: string]: JsonObject } } = {};
  for (const route of byTopic(routes)) {
    // OpenAPI has no notation for a parameter that matches the rest of a path.
    const template = route.path.replace('...}', '}');
    const path = paths[template] ?? {};
    paths[template] = path;
    path[route.method.toLowerCase()] = operation(route, book);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Troupe', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { cookie: [] }, {}],
    tags: TOPICS.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: book.components(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Required if access tokens are in use.' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'troupe', description: 'Set by POST /api/login.' },
      },
    },
  };
}

function operation(route: Route, book: SchemaBook): JsonObject {
  const { answer } = exampleOf(route);
  const parameters = [...pathParameters(route), ...queryParameters(route, book), ...headerParameters(route)];
  const role = route.role === null ? 'Needs no token.' : `Needs the role \`${route.role}\` if tokens are in use.`;
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: role,
    tags: topicOf(route),
    ...(route.role === null ? { security: [] } : { 'x-role': route.role }),
    ...(route.method === 'DELETE' || DESTRUCTIVE.includes(nameOf(route)) ? { 'x-destructive': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, book),
    responses: {
      [route.status]: {
        description: 'Done.',
        ...headers(route),
        content: content(route.answer, book, 'output', answer),
      },
      ...Object.fromEntries(Object.entries(route.also).map(([status, description]) => [status, { description }])),
      ...errorResponses(route),
    },
  };
}

/** `getApiSessionsIdFiles`: the method name in generated clients. A path that also exists with a slash at its end has an id of its own. */
function operationId({ method, path }: Route): string {
  const words = path
    .replace(/(?<=.)\/$/, '/slash')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function pathParameters({ path }: Route): JsonObject[] {
  return [...path.matchAll(/\{(\w+)(\.\.\.)?\}/g)].map(([, name = '', rest]) => {
    const example = parameterExample(path, name);
    return {
      name,
      in: 'path',
      required: true,
      ...(rest === undefined ? {} : { description: 'A path; its slashes are not encoded.', 'x-slashes': true }),
      ...(example === undefined ? {} : { example }),
      schema: path.startsWith('/api/nodes/') ? { type: 'string' } : (PARAMETERS[name] ?? { type: 'string' }),
    };
  });
}

function queryParameters({ querySchema }: Route, book: SchemaBook): JsonObject[] {
  if (querySchema === null) return [];
  const { properties = {}, required = [] } = book.of(querySchema, 'input');
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(Object(properties)).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(isRequired(name) ? { required: true } : {}),
    schema,
  }));
}

function headerParameters({ headers }: Route): JsonObject[] {
  return headers.flatMap((name) => {
    const description = HEADERS[name];
    return description === undefined ? [] : [{ name, in: 'header', description, schema: { type: 'string' } }];
  });
}

/** Headers of a success that are worth a description. */
function headers({ isPaged, hasEtag }: Route): JsonObject {
  if (!isPaged && !hasEtag) return {};
  const named = (name: string, description: string) => ({ [name]: { description, schema: { type: 'string' } } });
  return {
    headers: {
      ...(isPaged ? named('Link', 'If there are more: `<address of the next page>; rel="next"`.') : {}),
      ...(hasEtag ? named('ETag', 'Identifies the text, for `If-Match`.') : {}),
    },
  };
}

function exampleOf(route: Route): Example {
  return EXAMPLES[nameOf(route)] ?? {};
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function requestBody(route: Route, book: SchemaBook): JsonObject {
  const { body, bodySchema, maxBodyBytes } = route;
  if (body === 'none') return {};
  const description = `At most ${maxBodyBytes} bytes.`;
  const { request } = exampleOf(route);
  // A body that the handler parses itself is JSON if its example is.
  const bytes = request === undefined ? 'application/octet-stream' : 'application/json';
  return { requestBody: { description, content: content(bodySchema ?? bytes, book, 'input', request) } };
}

function content(answer: Route['answer'], book: SchemaBook, io: 'input' | 'output', shown: unknown): JsonObject {
  const example = shown === undefined ? {} : { example: shown };
  if (typeof answer === 'string') return { [answer]: example };
  return { 'application/json': { schema: book.of(answer, io), ...example } };
}

function errorResponses(route: Route): JsonObject {
  const responses: { [status: string]: JsonObject } = {};
  for (const [status, codes] of routeErrors(route)) {
    const also = route.also[status];
    responses[status] = {
      description: [...codes.map((code) => `${code}: ${ERROR_TABLE[code].meaning}.`), ...(also ? [also] : [])].join(
        '\n\n',
      ),
      content: { 'application/json': { schema: errorSchema(codes) } },
    };
  }
  return responses;
}

function errorSchema(codes: readonly ErrorCode[]): JsonObject {
  return { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] };
}
