import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { Teardown } from './service.js';

/** A client of the revision without MCP sessions at a service's `/mcp`. */
export interface StatelessMcpClient {
  readonly client: Client;
  /** Runs a script; in a new browser unless a session is named. */
  evaluate(js: string, sessionId?: string): Promise<CallToolResult>;
}

/** The tool's arguments of a new or another session. */
export const evalCall = (js: string, sessionId?: string) => ({
  name: 'agent_eval',
  arguments: { js, ...(sessionId === undefined ? {} : { sessionId }) },
});

/** Connects the SDK's own client of the newest generation, which gets no other revision; closed when the test is over. */
export async function connectStateless(
  t: Teardown,
  url: string,
  options: ClientOptions & { readonly name?: string } = {},
): Promise<StatelessMcpClient> {
  const { name = 'new', ...more } = options;
  const client = new Client(
    { name, version: '1.0.0' },
    { ...more, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  t.teardown(() => client.close());
  return { client, evaluate: (js, sessionId) => client.callTool(evalCall(js, sessionId)) };
}

/** The browser session that a result names. */
export function sessionOf({ _meta }: CallToolResult): string {
  return String(_meta?.['io.github.troupe/sessionId']);
}
