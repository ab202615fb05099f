import t from 'tap';
import { readVersion } from '#troupe/cli/version.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { McpAnswer, type WireCall } from '../support/mcp-wire.js';
import { startTestService } from '../support/service.js';
import { connectStateless, evalCall, sessionOf } from '../support/stateless-mcp-client.js';
import { STATELESS, statelessCall } from '../support/stateless-wire.js';

guardLeaks(t);

const page = (html: string): string => JSON.stringify(`data:text/html,${encodeURIComponent(html)}`);

t.test('A client without an MCP session controls a browser', async (t) => {
  const service = await startTestService(t, { maxSessions: 3, warmSessions: 0, evalTimeout: 20 });
  const running = async () => (await service.call('GET', '/api/sessions?state=running')).body;
  const send = async (call: WireCall) => {
    const answer = await McpAnswer.whole(service.url, call);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.text) };
  };

  await t.test('It discovers the server, its instructions and one tool, and starts no browser', async (t) => {
    const { client } = await connectStateless(t, service.url);
    t.match(client.getServerVersion(), { name: 'troupe', version: readVersion() });
    t.match(client.getInstructions(), /Its result names a sessionId/);
    t.same(
      (await client.listTools()).tools.map(({ name }) => name),
      ['agent_eval'],
    );
    t.match(await send(statelessCall('server/discover')), {
      body: { result: { resultType: 'complete', supportedVersions: [STATELESS], capabilities: { tools: {} } } },
    });
    t.same(await running(), []);
  });

  await t.test('The first result names a browser, and further calls with that name run in it', async (t) => {
    const { evaluate } = await connectStateless(t, service.url, { name: 'Robot' });
    const first = await evaluate(`const kept = 42; agent.go(${page('<button>Save</button>')}); agent.look()`);
    const id = sessionOf(first);
    t.match(first.content, [{ text: /\{button\}Save$/ }, { text: `sessionId: ${id} ` }]);
    t.match(await running(), [{ id, name: 'MCP: Robot' }]);
    t.same((await evaluate('kept', id)).content, [{ type: 'text', text: '42' }]);
    t.match(await evaluate('null.x', id), { isError: true, content: [{ text: /^SCRIPT_ERROR at line 1: / }] });
    t.equal((await running()).length, 1);

    await service.call('DELETE', `/api/sessions/${id}`);
    const advice = /^SESSION_ENDED: [\s\S]*Leave sessionId out to get a fresh browser/;
    t.match(await evaluate('kept', id), { isError: true, content: [{ text: advice }] });
    t.match(await evaluate('1', 'zzzzzzzzzzzz'), { isError: true, content: [{ text: /^NOT_FOUND: / }] });
  });

  await t.test('A first script that fails names its browser, too', async (t) => {
    const { evaluate } = await connectStateless(t, service.url);
    const failed = await evaluate('let kept = 1; nothing.there');
    t.match(failed, { isError: true, content: [{ text: /^SCRIPT_ERROR/ }, { text: /^sessionId: / }] });
    const id = sessionOf(failed);
    t.match((await evaluate('kept', id)).content, [{ text: '1' }]);
    await service.call('DELETE', `/api/sessions/${id}`);
  });

  await t.test('The browser of a client that goes away during its first script ends', async (t) => {
    const { client } = await connectStateless(t, service.url);
    const gone = new AbortController();
    const js = 'agent.go("data:text/html,hello"); agent.wait(15000)';
    const told: (string | undefined)[] = [];
    const call = client.callTool(evalCall(js), {
      signal: gone.signal,
      onprogress: ({ message }) => {
        told.push(message);
        if (message?.startsWith('agent.go(')) gone.abort('enough');
      },
    });
    await t.rejects(call);
    t.ok(told.length > 0, 'its progress was reported');
    await eventually('the browser has ended', async () => (await running()).length === 0);
  });

  await t.test('What a request lacks is answered with the errors of the revision', async (t) => {
    const call = { name: 'agent_eval', arguments: { js: '1' } };
    const named = { headers: { 'mcp-name': 'agent_eval' } };
    const version = 'io.modelcontextprotocol/protocolVersion';
    const rows: [what: string, call: WireCall, status: number, code: number][] = [
      [
        'an unknown revision',
        statelessCall(
          'tools/list',
          {},
          { headers: { 'mcp-protocol-version': '2099-01-01' }, meta: { [version]: '2099-01-01' } },
        ),
        400,
        -32022,
      ],
      [
        'a header that says something else',
        statelessCall('tools/list', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } }),
        400,
        -32020,
      ],
      [
        'another method in its header',
        statelessCall('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }),
        400,
        -32020,
      ],
      [
        'another tool in its header',
        statelessCall('tools/call', call, { headers: { 'mcp-name': 'other' } }),
        400,
        -32020,
      ],
      [
        'no capabilities',
        statelessCall('tools/list', {}, { meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }),
        400,
        -32602,
      ],
      [
        'no metadata',
        { ...statelessCall('tools/list'), body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
        400,
        -32602,
      ],
      ['an unknown method', statelessCall('nope/nope'), 404, -32601],
      ['a method of earlier revisions', statelessCall('ping'), 404, -32601],
      [
        'an unknown tool',
        statelessCall('tools/call', { ...call, name: 'nope' }, { headers: { 'mcp-name': 'nope' } }),
        200,
        -32602,
      ],
      ['no JSON', { ...statelessCall('tools/list'), body: '{' }, 400, -32700],
    ];
    for (const [what, sent, status, code] of rows) {
      t.match(await send(sent), { status, body: { error: { code } } }, what);
    }
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await send({ method, headers: { 'mcp-protocol-version': STATELESS } });
      t.match(answer, { status: 405, headers: { allow: 'POST' } }, method);
    }
    t.match(await send(statelessCall('tools/call', { ...call, arguments: { js: 1 } }, named)), {
      status: 200,
      body: { result: { isError: true, content: [{ text: /^INVALID_REQUEST: js: / }] } },
    });
    t.same(await running(), []);
  });
});
