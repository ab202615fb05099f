import { MCP_HEADERS } from '../mcp/mcp-endpoint.js';
import { defineRoute, type Method, type Route } from '../route.js';

/** The limit of other routes with a body; no script needs more. */
const BODY_BYTES = 1024 * 1024;

/** The protocol's own answers, in the form of JSON-RPC. */
const RPC_ANSWERS = {
  POST: {
    202: 'Accepted: the message needs no answer.',
    400: 'The message, or a header of the protocol, is not valid.',
    404: 'There is no such MCP session; send initialize again.',
    406: 'The Accept header allows no format of an answer.',
    429: 'Every MCP session is in use.',
  },
  GET: {
    400: 'A header of the protocol is missing or not valid.',
    404: 'There is no such MCP session; send initialize again.',
    405: 'Revision 2026-07-28 has no sessions; it uses POST only.',
    406: 'The Accept header does not allow an event stream.',
    409: 'The stream of the session is already open.',
  },
  DELETE: {
    400: 'A header of the protocol is missing or not valid.',
    404: 'There is no such MCP session.',
    405: 'Revision 2026-07-28 has no sessions; it uses POST only.',
  },
} as const;

export const mcpRoutes: readonly Route[] = [
  mcpRoute('POST', 'Takes Model Context Protocol messages; requests are answered as a stream.', BODY_BYTES),
  mcpRoute('GET', 'Opens the stream of an MCP session, or resumes one after Last-Event-ID.'),
  mcpRoute('DELETE', 'Ends an MCP session and its browser.'),
];

function mcpRoute(method: Exclude<Method, 'PUT'>, summary: string, bytes?: number): Route {
  return defineRoute({
    method,
    path: '/mcp',
    summary,
    ...(bytes === undefined ? {} : { bytes }),
    changes: false,
    headers: MCP_HEADERS,
    role: 'run',
    answer: 'text/event-stream',
    also: RPC_ANSWERS[method],
    async handle({ request }, sessions) {
      const { headers, base, caller, bytes: body } = request;
      return { kind: 'mcp', call: { method, headers, body, base, client: { sessions, caller, base } } };
    },
  });
}
