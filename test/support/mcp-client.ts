import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Teardown } from './service.js';

/** The SDK's own client at a service's `/mcp`. */
export interface McpClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Runs a script; the MCP session's own browser unless `sessionId` says otherwise. */
  evaluate(js: string, more?: { readonly sessionId?: string }): Promise<CallToolResult>;
  /** The text of a result that is a text. */
  text(js: string): Promise<string>;
}

/** Connects a client; its connections are closed when the test is over. Its session is not deleted. */
export async function connectMcp(t: Teardown, url: string, name = 'test'): Promise<McpClient> {
  const client = new Client({ name, version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url));
  // Its sessionId may be undefined, which the SDK's own type of a transport does not allow under our strictness.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  t.teardown(() => client.close());
  const evaluate: McpClient['evaluate'] = async (js, more = {}) => {
    return (await client.callTool({ name: 'agent_eval', arguments: { js, ...more } })) as CallToolResult;
  };
  return {
    client,
    transport,
    evaluate,
    async text(js) {
      const { content, isError } = await evaluate(js);
      const [first] = content;
      if (isError || first?.type !== 'text') throw new Error(`Not a text: ${JSON.stringify(content)}`);
      return first.text;
    },
  };
}
