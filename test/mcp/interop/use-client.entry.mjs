// Runs a script through one agent library's own MCP client, and prints the names of the tools and the text of the result as JSON:
// use-client.entry.mjs LIBRARY http|stdio URL CLI JS. The libraries are in the folder that NODE_PATH names; they want Node 22.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [library, transport, url, cli, js] = process.argv.slice(2);
const require = createRequire(join(process.env.NODE_PATH, 'none.js'));
const load = (name) => import(pathToFileURL(resolved(name)).href);
const stdio = { command: process.execPath, args: [cli, 'mcp', '--url', url] };
const endpoint = `${url}/mcp`;

/** By conditions of ESM: some of the packages have no others. */
function resolved(name) {
  const [scope, pack, ...rest] = name.split('/');
  const root = join(process.env.NODE_PATH, scope, pack);
  const { exports } = require(join(root, 'package.json'));
  const entry = exports[rest.length === 0 ? '.' : `./${rest.join('/')}`];
  const file = typeof entry === 'string' ? entry : fileOf(entry.import ?? entry.default);
  return join(root, file);
}

function fileOf(entry) {
  return typeof entry === 'string' ? entry : (entry.default ?? fileOf(Object.values(entry)[0]));
}

const CLIENTS = {
  async 'ai-sdk'() {
    const { createMCPClient } = await load('@ai-sdk/mcp');
    const { Experimental_StdioMCPTransport: Stdio } = await load('@ai-sdk/mcp/mcp-stdio');
    const client = await createMCPClient({
      transport: transport === 'http' ? { type: 'http', url: endpoint } : new Stdio(stdio),
    });
    try {
      const tools = await client.tools();
      const options = { toolCallId: '1', messages: [] };
      const { content } = await tools.agent_eval.execute({ js }, options);
      return { tools: Object.keys(tools), text: content[0].text };
    } finally {
      await client.close();
    }
  },
  async langchain() {
    const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
    const server = transport === 'http' ? { transport: 'http', url: endpoint } : { transport: 'stdio', ...stdio };
    const client = new MultiServerMCPClient({ mcpServers: { troupe: server } });
    try {
      const tools = await client.getTools();
      const text = await tools.find(({ name }) => name.endsWith('agent_eval')).invoke({ js });
      return { tools: tools.map(({ name }) => name), text: typeof text === 'string' ? text : text[0].text };
    } finally {
      await client.close();
    }
  },
  async 'openai-agents'() {
    const { MCPServerStdio, MCPServerStreamableHttp } = await load('@openai/agents');
    const server =
      transport === 'http'
        ? new MCPServerStreamableHttp({ url: endpoint })
        : new MCPServerStdio({ name: 'troupe', ...stdio });
    await server.connect();
    try {
      const tools = await server.listTools();
      const content = await server.callTool('agent_eval', { js });
      return { tools: tools.map(({ name }) => name), text: content[0].text };
    } finally {
      await server.close();
    }
  },
};

console.log(JSON.stringify(await CLIENTS[library]()));
process.exit(0);
