import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { connectMcp } from '../support/mcp-client.js';
import { openReader } from '../support/reader.js';
import { postgresMissing } from '../support/test-store.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();

t.test('One dashboard shows the sessions of all nodes, and drains and lists nodes', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const { page, shows, problems } = await openReader(t);
  page.setDefaultTimeout(60_000);
  await page.goto(`${a.url}/#/sessions`);
  const { id } = await b.live({ name: 'of the other node' });
  await shows('of the other node');
  await page.goto(`${a.url}/#/sessions/${id}`);
  await b.run(id, 'agent.go("data:text/html,<title>over there</title><h1>one</h1>"); console.log("said elsewhere")');
  await page.getByText('said elsewhere').first().waitFor();
  await page.getByRole('link', { name: 'Nodes' }).click();
  await page.getByRole('cell', { name: b.url }).waitFor();
  await b.call('DELETE', `/api/sessions/${id}`);
  await page.getByRole('button', { name: 'Drain b' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
  await page.getByRole('cell', { name: b.url }).waitFor({ state: 'detached' });
  await eventually('the drained node has ended', () => b.process.child.exitCode === 0);
  t.same(problems, []);
});

t.test('An MCP session goes on at any node, and its scripts reach sessions of all', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const mcp = await connectMcp(t, a.url);
  t.equal(await mcp.text('let kept = 40; kept'), '40');
  const { sessionId = '' } = mcp.transport;
  t.match(sessionId, /@a$/);
  const call = {
    jsonrpc: '2.0',
    id: 9,
    method: 'tools/call',
    params: { name: 'agent_eval', arguments: { js: 'kept + 2' } },
  };
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const answer = await b.call('POST', '/mcp', call, { headers: { ...headers, 'mcp-session-id': sessionId } });
  t.equal(answer.status, 200);
  t.match(JSON.stringify(answer.body), /42/, 'the other node passes it on');
  const other = await b.live();
  const { content } = await mcp.evaluate('6 * 7', { sessionId: other.id });
  t.match(content, [{ text: '42' }], 'a session of the other node');
  t.match(await mcp.evaluate('agent.nothing()', { sessionId: other.id }), { isError: true });
  const gone = await b.call('POST', '/mcp', call, { headers: { ...headers, 'mcp-session-id': `${sessionId}b` } });
  t.equal(gone.status, 404, 'of a node that is not there: the client begins again');
});
