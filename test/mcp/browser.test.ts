import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { readVersion } from '#troupe/cli/version.js';
import { guardLeaks } from '../support/leaks.js';
import { connectMcp } from '../support/mcp-client.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const page = (html: string): string => JSON.stringify(`data:text/html,${encodeURIComponent(html)}`);

t.test('An MCP client controls a browser', async (t) => {
  const service = await startTestService(t, { maxSessions: 2, warmSessions: 0, evalTimeout: 20 });

  await t.test('A client finds one tool, and instructions', async (t) => {
    const { client } = await connectMcp(t, service.url);
    t.match(client.getServerVersion(), { name: 'troupe', version: readVersion() });
    t.match(client.getInstructions(), /agent\.look\(\)/);
    const { tools } = await client.listTools();
    t.same(
      tools.map(({ name }) => name),
      ['agent_eval'],
    );
    t.same((await service.call('GET', '/api/sessions')).body, [], 'no browser is made for that');
  });

  await t.test('The first script starts a browser that is kept, and the end of the MCP session ends it', async (t) => {
    const { transport, evaluate, text } = await connectMcp(t, service.url, 'Robot');
    t.equal(await text('const answer = 42; answer'), '42');
    t.equal(await text('answer + 1'), '43');
    const shop = page('<title>Shop</title><label>Name <input value=Ada></label><button>Save</button>');
    t.match(await text(`agent.go(${shop}); agent.look()`), /^Shop · data:.*\n\{input\}Name = Ada\n\{button\}Save$/);
    t.equal(await text('agent.act("{input}Name", "input", "Bob"); agent.look()'), '~ {input}Name = Bob\n= 1 unchanged');
    t.equal(await text('agent.text("{button}Save")'), 'Save', 'a text comes without quotes');

    const { content, isError, structuredContent } = await evaluate('1;\nmatch(agent.value("{input}Name"), "Ada")');
    t.equal(isError, true);
    t.match(content, [{ type: 'text', text: /^MATCH_FAILED at line 2: [\s\S]*\npage: Shop · data:/ }]);
    t.match(structuredContent, { code: 'MATCH_FAILED', line: 2 });

    const records = (await service.call('GET', '/api/sessions?state=running')).body;
    t.match(records, [{ mode: 'live', name: 'MCP: Robot' }]);
    t.equal(records.length, 1);
    const stale = transport.sessionId ?? '';
    await transport.terminateSession();
    t.match((await service.call('GET', `/api/sessions/${records[0].id}`)).body, { status: 'stopped' });
    const init = { headers: { 'mcp-session-id': stale } };
    t.equal((await service.call('POST', '/mcp', PING, init)).status, 404, 'so a client knows to begin anew');
  });

  await t.test('The console output of a script follows its result or its error', async (t) => {
    const { evaluate, transport } = await connectMcp(t, service.url);
    t.same((await evaluate('console.log("a", 1); console.warn("b"); 5')).content, [
      { type: 'text', text: '5' },
      { type: 'text', text: 'console:\na 1\nwarn: b' },
    ]);
    const [failure, written] = (await evaluate('console.log("before"); nothing.there')).content;
    t.match([failure, written], [{ text: /^SCRIPT_ERROR at line 1: / }, { text: 'console:\nbefore' }]);
    t.equal((await evaluate('console.log(1); 2', { sessionId: 'zzzzzzzzzzzz' })).isError, true);
    await transport.terminateSession();
  });

  await t.test('A screenshot is returned as a picture', async (t) => {
    const { evaluate, transport } = await connectMcp(t, service.url);
    const { content } = await evaluate(`agent.go(${page('<h1>Hello')}); agent.screenshot("hello")`);
    const [picture, name] = content;
    t.match(picture, { type: 'image', mimeType: 'image/png' });
    t.match(
      Buffer.from(picture?.type === 'image' ? picture.data : '', 'base64')
        .subarray(1, 4)
        .toString(),
      'PNG',
    );
    t.match(name, { type: 'text', text: /hello\.png, \d+ x \d+$/ });
    await transport.terminateSession();
  });

  await t.test('Every picture of a script comes back, in order, also if it fails', async (t) => {
    const { evaluate, transport } = await connectMcp(t, service.url);
    const names = (content: readonly { type: string; text?: string }[]) =>
      content.map((one) => (one.type === 'text' ? one.text?.replace(/, \d+ x \d+$/, '') : one.type));
    const begin = `agent.go(${page('<h1>Hello')}); agent.screenshot("first"); agent.screenshot("second")`;
    t.match(names((await evaluate(`${begin}; 7`)).content), ['image', /first/, 'image', /second/, '7']);
    t.match(names((await evaluate(`${begin}; nothing.there`)).content), [
      'image',
      /first/,
      'image',
      /second/,
      /^SCRIPT_ERROR/,
    ]);
    await transport.terminateSession();
  });

  await t.test('A script runs in another session if one is named', async (t) => {
    const { evaluate, client } = await connectMcp(t, service.url);
    const { id } = await service.live();
    await service.run(id, 'const here = "the other one"');
    t.match(await evaluate('here', { sessionId: id }), { content: [{ text: 'the other one' }] });
    t.match(await evaluate('1', { sessionId: 'zzzzzzzzzzzz' }), { isError: true, content: [{ text: /^NOT_FOUND: / }] });
    t.match(await evaluate('1', { sessionId: '../x' }), {
      isError: true,
      content: [{ text: /^INVALID_REQUEST: sess/ }],
    });
    await t.rejects(client.callTool({ name: 'nope' }), { code: -32602 });
    await service.call('DELETE', `/api/sessions/${id}`);
  });

  await t.test('A client whose browser ended learns it once, and continues in a new one', async (t) => {
    const { evaluate, text, transport } = await connectMcp(t, service.url);
    t.equal(await text('let count = 1; count'), '1');
    const [{ id }] = (await service.call('GET', '/api/sessions?state=running')).body;
    await service.call('DELETE', `/api/sessions/${id}`);
    t.match(await evaluate('count'), { isError: true, content: [{ text: /^SESSION_ENDED: .*deleted.*not run/ }] });
    t.equal(await text('typeof count'), 'undefined');
    await transport.terminateSession();
  });

  await t.test('A script reports its progress, and stops when it is cancelled', async (t) => {
    const { client, text, transport } = await connectMcp(t, service.url);
    t.equal(await text('let kept = 1; kept'), '1');
    const given = new AbortController();
    const told: Progress[] = [];
    const js = 'agent.go("data:text/html,hello"); agent.wait(15000); kept = 2';
    const call = client.callTool({ name: 'agent_eval', arguments: { js } }, undefined, {
      signal: given.signal,
      onprogress: (progress) => {
        told.push(progress);
        if (progress.message?.startsWith('agent.go(')) given.abort('enough');
      },
    });
    await t.rejects(call, { message: /enough/ });
    t.ok(
      told.every(({ progress }, at) => at === 0 || progress > (told[at - 1]?.progress ?? 0)),
      'it rises',
    );
    t.equal(await text('kept'), '1', 'the next script runs, in the same scope, and the cancelled one did not go on');
    await transport.terminateSession();
  });
});
