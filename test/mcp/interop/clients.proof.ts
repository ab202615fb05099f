import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { z } from 'zod';
import { cachedPackages } from '../../../scripts/support/cached-packages.mjs';
import { guardLeaks } from '../../support/leaks.js';
import { startTestService } from '../../support/service.js';

guardLeaks(t);

const NODE = '22.23.3';
const CLIENTS = [
  'mcp-remote@0.15.1',
  '@modelcontextprotocol/inspector@2.12.0',
  '@ai-sdk/mcp@2.0.99',
  '@langchain/mcp-adapters@1.1.4',
  '@langchain/core@1.4.0',
  '@openai/agents@0.20.0',
  'zod@4.6.7',
];
const CLI = 'dist/cli.js';
const PAGE = 'data:text/html,<title>Shop</title><button>Buy</button>';
const SCRIPT = `agent.go(${JSON.stringify(PAGE)}); agent.look()`;
const LOOK = /^Shop · data:[\s\S]*\{button\}Buy/;

const Used = z.object({ tools: z.array(z.string()), text: z.string() });
const Inspected = z.object({ content: z.array(z.object({ text: z.string() })) });

t.test('Clients of others drive a browser', async (t) => {
  const files = cachedPackages('mcp-clients-1', CLIENTS);
  const platform = `node-${process.platform}-${process.arch}`;
  const node = cachedPackages(`node-${NODE}`, [`${platform}@${NODE}`])(platform, 'bin', 'node');
  const service = await startTestService(t, { maxSessions: 12, warmSessions: 0 });
  const run = async (...args: readonly string[]) =>
    (
      await promisify(execFile)(node, args, {
        timeout: 120_000,
        env: { ...process.env, NODE_OPTIONS: '', NODE_PATH: files() },
      })
    ).stdout;
  const live = async () => (await service.call('GET', '/api/sessions?state=running')).body;

  for (const library of ['ai-sdk', 'langchain', 'openai-agents']) {
    for (const transport of ['http', 'stdio']) {
      await t.test(`${library}, over ${transport}`, async (t) => {
        const printed = await run(
          'test/mcp/interop/use-client.entry.mjs',
          library,
          transport,
          service.url,
          CLI,
          SCRIPT,
        );
        const { tools, text } = Used.parse(JSON.parse(printed.trim().split('\n').at(-1) ?? ''));
        t.match(tools, [/agent_eval$/]);
        t.equal(tools.length, 1);
        t.match(text, LOOK);
      });
    }
  }

  await t.test("The inspector's command line, over HTTP and standard input", async (t) => {
    const inspector = files('@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js');
    const call = ['--method', 'tools/call', '--tool-name', 'agent_eval', '--tool-arg', `js=${SCRIPT}`];
    const targets = [
      [`${service.url}/mcp`, '--transport', 'http'],
      [node, CLI, 'mcp', '--url', service.url],
    ];
    for (const target of targets) {
      const { content } = Inspected.parse(JSON.parse(await run(inspector, '--cli', ...target, ...call)));
      t.match(content[0]?.text, LOOK);
    }
  });

  await t.test('mcp-remote, between a client of standard input and HTTP', async (t) => {
    const client = new Client({ name: 'behind mcp-remote', version: '1' });
    const args = [
      files('mcp-remote', 'dist', 'proxy.js'),
      `${service.url}/mcp`,
      '--allow-http',
      '--transport',
      'http-only',
    ];
    await client.connect(new StdioClientTransport({ command: node, args, stderr: 'ignore' }));
    t.same(
      (await client.listTools()).tools.map(({ name }) => name),
      ['agent_eval'],
    );
    const { content } = (await client.callTool({ name: 'agent_eval', arguments: { js: SCRIPT } })) as CallToolResult;
    t.match(content, [{ text: LOOK }]);
    await client.close();
  });

  t.comment(`browsers that still run, of clients that left without a word: ${(await live()).length}`);
});
