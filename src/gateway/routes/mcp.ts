import { MCP_HEADERS } from '../mcp/mcp-endpoint.js';
import { defineRoute, type Method, type Route } from '../route.js';

/** As other routes with a body: longer scripts are no scripts. */
const BODY_BYTES = 1024 * 1024;

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
    headers: MCP_HEADERS,
    async handle({ request }, sessions) {
      const { headers, base, caller, bytes: body } = request;
      return { kind: 'mcp', call: { method, headers, body, base, asker: { sessions, caller } } };
    },
  });
}
