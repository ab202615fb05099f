import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { connectMcp } from '../support/mcp-client.js';
import { startTestService } from '../support/service.js';
import { connectStateless, sessionOf } from '../support/stateless-mcp-client.js';

guardLeaks(t);

type Answer = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: { readonly note: string } };
const ASK = `(agent.handoff('Solve the captcha').note ?? 'nothing')`;

t.test('A script of an MCP client waits for a person', async (t) => {
  const service = await startTestService(t, { maxSessions: 6, warmSessions: 0 });
  const waiting = async (): Promise<{ id: string; links: { view: string } }[]> => {
    const { body } = await service.call('GET', '/api/sessions?state=running');
    return body.filter((record: { handoff?: object }) => record.handoff !== undefined);
  };
  const open = async () => {
    await eventually('a session waits for a person', async () => (await waiting()).length > 0);
    const [first] = await waiting();
    if (first === undefined) throw new Error('It waits no longer');
    return first;
  };
  const answer = (id: string, body: object) => service.call('POST', `/api/sessions/${id}/handoff`, body);

  /** A client with forms, over HTTP or standard input; it answers the forms in this order. */
  const withForms = async (transport: 'http' | 'stdio', answers: (Answer | 'never')[]) => {
    const forms: string[] = [];
    const client = new Client({ name: 'forms', version: '1' }, { capabilities: { elicitation: {} } });
    let closed = false;
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      forms.push(params.message);
      const given = answers[forms.length - 1] ?? 'never';
      if (given !== 'never') return given;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      closed = true;
      return { action: 'cancel' };
    });
    const made =
      transport === 'http'
        ? new StreamableHTTPClientTransport(new URL('/mcp', service.url))
        : new StdioClientTransport({ command: process.execPath, args: ['dist/cli.js', 'mcp', '--url', service.url] });
    await client.connect(made as Parameters<Client['connect']>[0]);
    t.teardown(() => client.close());
    const evaluate = async (js: string) =>
      (await client.callTool({ name: 'agent_eval', arguments: { js } })) as CallToolResult;
    return { evaluate, forms, isClosed: () => closed, close: () => client.close() };
  };

  for (const transport of ['http', 'stdio'] as const) {
    await t.test(`A client with forms asks the person itself (${transport})`, async (t) => {
      const { evaluate, forms, close } = await withForms(transport, [
        { action: 'accept', content: { note: 'solved' } },
        { action: 'decline' },
      ]);
      t.match(await evaluate(ASK), { content: [{ text: 'solved' }] });
      t.match(forms[0], /^Solve the captcha\n[\s\S]*http:\/\/127\.0\.0\.1:\d+\/#\/sessions\/\w+/);
      t.match(await evaluate(ASK), {
        isError: true,
        content: [{ text: /^ACTION_FAILED.*refused "Solve the captcha"/ }],
      });
      await close();
    });
  }

  await t.test(
    'A form closes when the person answers on the page, and one that was closed is answered there',
    async (t) => {
      const { evaluate, isClosed, close } = await withForms('http', [
        { action: 'accept' },
        'never',
        { action: 'cancel' },
      ]);
      // The SDK's clients up to 1.32 do not heed the cancellation of a first request, whose id is 0.
      t.match(await evaluate(ASK), { content: [{ text: 'nothing' }] });
      const first = evaluate(ASK);
      const { id } = await open();
      await answer(id, { answer: 'done', note: 'on the page' });
      t.match(await first, { content: [{ text: 'on the page' }] });
      await eventually('the form is closed', isClosed);
      t.match(await evaluate(ASK), { content: [{ text: /^The script waits for a person/ }] });
      await answer(id, { answer: 'done' });
      t.match(await evaluate('1 + 1'), { content: [{ text: 'nothing' }, { text: '2' }] });
      await close();
    },
  );

  await t.test('A client without forms gets the address, and its next call begins with the result', async (t) => {
    const { evaluate } = await connectMcp(t, service.url);
    const { content } = await evaluate(ASK);
    const { id, links } = await open();
    t.match(content, [{ text: new RegExp(`${service.url}${links.view}[\\s\\S]*Then call agent_eval again`) }]);
    const next = evaluate('1 + 1');
    await answer(id, { answer: 'done', note: 'by hand' });
    t.match((await next).content, [{ text: 'by hand' }, { text: '2' }]);

    await evaluate(ASK);
    await answer(id, { answer: 'refused' });
    t.match(await evaluate('1 + 1'), { isError: true, content: [{ text: /^ACTION_FAILED/ }, { text: /was not run/ }] });
    t.match((await evaluate('1 + 1')).content, [{ text: '2' }]);
  });

  await t.test('A stateless client with forms gets input_required and sends the answer', async (t) => {
    const forms: string[] = [];
    const { client, evaluate } = await connectStateless(t, service.url, {
      capabilities: { elicitation: { form: {} } },
    });
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      forms.push(params.message);
      return { action: 'accept', content: { note: `form ${forms.length}` } };
    });
    const result = await evaluate(`${ASK} + ', ' + ${ASK}`);
    t.match(result.content, [{ text: 'form 1, form 2' }, { text: /^sessionId: / }]);
    t.match(forms, [/^Solve the captcha\n/, /^Solve the captcha\n/]);
    t.match((await evaluate('typeof agent', sessionOf(result))).content, [{ text: 'object' }]);
  });

  await t.test('A stateless client without forms gets the address and the name of its browser', async (t) => {
    const { evaluate } = await connectStateless(t, service.url);
    const asked = await evaluate(ASK);
    const id = sessionOf(asked);
    t.match(asked.content, [{ text: /^The script waits for a person/ }, { text: `sessionId: ${id}` }]);
    await answer(id, { answer: 'done' });
    t.match((await evaluate('2 + 2', id)).content, [{ text: 'nothing' }, { text: '4' }]);
  });
});
