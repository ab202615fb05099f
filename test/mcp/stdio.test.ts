import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as StatelessClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as StatelessTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import t, { type Test } from 'tap';
import { isRunning } from '#troupe/client/local-service/find-service.js';
import { readServiceFile } from '#troupe/client/local-service/service-file.js';
import { MCP_REVISIONS, STATELESS_REVISION } from '#troupe/gateway/mcp/mcp-revisions.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { killProcess } from '../support/processes.js';
import { makeHome } from '../support/service.js';
import { evalCall, sessionOf } from '../support/stateless-mcp-client.js';

guardLeaks(t);

/** A client of the SDK that starts `troupe mcp` itself, as agents do. */
async function startClient(t: Test, home: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['dist/cli.js', 'mcp'],
    env: { ...(process.env as Record<string, string>), TROUPE_HOME: home },
    stderr: 'pipe',
  });
  const client = new Client({ name: 'robot', version: '1.0.0' });
  const faults: Error[] = [];
  client.onerror = (error) => faults.push(error);
  await client.connect(transport);
  t.teardown(() => client.close());
  const evaluate = async (js: string) => {
    const answer = await client.callTool({ name: 'agent_eval', arguments: { js } });
    const [first] = answer.content as { text: string }[];
    return `${answer.isError === true ? 'failed: ' : ''}${first?.text}`;
  };
  return { client, transport, evaluate, faults };
}

const pidOf = async (home: string) => (await readServiceFile(home))?.pid ?? -1;

/** Ends the service that was started for a home. */
async function endService(home: string): Promise<void> {
  const pid = await pidOf(home);
  if (pid > 0) process.kill(pid, 'SIGTERM');
  await eventually('the service has ended', () => !isRunning(pid));
}

t.test('Two clients that start at once share one service, which is started for them', async (t) => {
  const home = makeHome(t, { maxSessions: 6 });
  t.teardown(() => endService(home));
  const [one, two] = await Promise.all([startClient(t, home), startClient(t, home)]);
  t.match(one.client.getInstructions(), /agent\.look\(\)/);
  t.match((await one.client.listTools()).tools, [{ name: 'agent_eval' }]);
  t.equal(await readServiceFile(home), null, 'a client that only looks what there is starts no service');
  t.same(await Promise.all([one.evaluate('const mine = 1; mine'), two.evaluate('const mine = 2; mine')]), ['1', '2']);
  const pid = await pidOf(home);
  t.equal(readFileSync(join(home, 'service.log'), 'utf8').match(/listens on/g)?.length, 1);
  const maps = readFileSync(`/proc/${one.transport.pid}/maps`, 'utf8');
  t.notMatch(maps, /\.node\b/, 'the thin process has no native module');

  await t.test('A service that was killed is replaced; a lost browser is an error, once', async (t) => {
    const js = 'agent.go("data:text/html,hello"); agent.wait(9000)';
    const cut = one.client.callTool({ name: 'agent_eval', arguments: { js } }, undefined, {
      onprogress: ({ message }) => message?.startsWith('agent.go(') && killProcess(pid),
    });
    t.match(await cut, { isError: true, content: [{ text: /^UNAVAILABLE: .* outcome is not known/ }] });
    // A request on a connection that is just breaking may have arrived.
    t.match(await two.evaluate('mine'), /^failed: (SESSION_ENDED: .* not run|UNAVAILABLE: .* not known)/);
    t.same(await Promise.all([one.evaluate('typeof mine'), two.evaluate('typeof mine')]), ['undefined', 'undefined']);
    t.not(await pidOf(home), pid);
    t.equal(one.client.getServerVersion()?.name, 'troupe');
  });

  await t.test('A cancelled script is stopped, and the end of the input ends browser and process', async (t) => {
    const abort = new AbortController();
    const call = one.client.callTool({ name: 'agent_eval', arguments: { js: 'agent.wait(9000)' } }, undefined, {
      signal: abort.signal,
    });
    abort.abort('enough');
    await t.rejects(call, /enough/);
    t.equal(await one.evaluate('1 + 1'), '2', 'the next one does not wait for it');
    const { url } = (await readServiceFile(home)) ?? { url: '' };
    const sessions = async () => (await (await fetch(`${url}/api/sessions?state=running`)).json()) as unknown[];
    const before = await sessions();
    const { pid } = one.transport;
    await one.client.close();
    t.notOk(isRunning(Number(pid)));
    const running = await sessions();
    t.equal(running.length, before.length - 1, 'those of others go on');
  });
  t.same([...one.faults, ...two.faults], [], 'standard output has nothing but messages');
});

t.test('A client of the revision without sessions is served, too, and its browser ends with the process', async (t) => {
  const home = makeHome(t, { maxSessions: 2 });
  t.teardown(() => endService(home));
  const transport = new StatelessTransport({
    command: process.execPath,
    args: ['dist/cli.js', 'mcp'],
    env: { ...(process.env as Record<string, string>), TROUPE_HOME: home },
  });
  const options = { versionNegotiation: { mode: { pin: STATELESS_REVISION } } } as const;
  const client = new StatelessClient({ name: 'robot', version: '1.0.0' }, options);
  await client.connect(transport);
  t.teardown(() => client.close());
  t.match((await client.listTools()).tools, [{ name: 'agent_eval' }]);
  t.equal(await readServiceFile(home), null, 'a client that only looks what there is starts no service');
  const first = await client.callTool(evalCall('const mine = 1; mine'));
  const id = sessionOf(first);
  t.match(first.content, [{ text: '1' }, { text: `sessionId: ${id}` }]);
  t.match((await client.callTool(evalCall('mine + 1', id))).content, [{ text: '2' }]);
  const { url } = (await readServiceFile(home)) ?? { url: '' };
  await client.close();
  const sessions = async () => (await (await fetch(`${url}/api/sessions?state=running`)).json()) as unknown[];
  await eventually('its browser has ended', async () => (await sessions()).length === 0);
});

t.test(
  'Input that is not a message is answered as JSON-RPC says, and a service that cannot start is an error',
  async (t) => {
    const home = t.testdir({ 'troupe.json': '{"maxSessions": "none"}' });
    const lines = [
      'nonsense',
      '[]',
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call"}',
    ];
    const { out, code } = await new Promise<{ out: string; code: unknown }>((resolve) => {
      const env = { ...process.env, TROUPE_HOME: home };
      const child = execFile(process.execPath, ['dist/cli.js', 'mcp'], { env }, (_, stdout) =>
        resolve({ out: stdout, code: child.exitCode }),
      );
      child.stdout?.on('data', (text: string) => /"id":2/.test(text) && child.stdin?.end());
      child.stdin?.write(`${lines.join('\n')}\n`);
    });
    t.equal(code, 0);
    const [fault, pong, failed, ...more] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(fault, { id: null, error: { code: -32700 } });
    t.same(pong, { jsonrpc: '2.0', id: 1, result: {} });
    t.match(failed, { id: 2, error: { message: /did not start:[\s\S]*maxSessions: / } });
    t.same(more, []);
  },
);

t.test('The revisions that are answered are those of the SDK', async (t) => {
  t.same(MCP_REVISIONS, SUPPORTED_PROTOCOL_VERSIONS);
});
