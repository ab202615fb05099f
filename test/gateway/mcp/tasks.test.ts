import t from 'tap';
import { StatelessAgent } from '#troupe/gateway/mcp/stateless-agent.js';
import { eventually } from '../../support/eventually.js';
import { holdScripts } from '../../support/held-scripts.js';
import { openHouse } from '../../support/house.js';
import { guardLeaks } from '../../support/leaks.js';
import { McpAnswer } from '../../support/mcp-wire.js';
import { statelessCall } from '../../support/stateless-wire.js';

guardLeaks(t);

const house = await openHouse(t, { maxSessions: 5 });
const held = await holdScripts(t, house.home);
const gateway = await house.listen({ statelessMcpPeer: new StatelessAgent({ taskAfterMs: 1 }) });

t.afterEach(async () => {
  held.finish();
  for (const { id } of await house.sessions.list({ limit: 1000 })) await house.sessions.remove(id, true);
});

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function send(method: string, params: object, name: string, capabilities: object = TASKS) {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const call = statelessCall(method, params, { headers: { 'mcp-name': name }, meta });
  const answer = await McpAnswer.whole(gateway.url, call);
  return JSON.parse(answer.text);
}
const evaluate = (js: string, capabilities?: object) =>
  send('tools/call', { name: 'agent_eval', arguments: { js } }, 'agent_eval', capabilities);
const onTask = (method: string, taskId: string) => send(method, { taskId }, taskId);

t.test('A call that takes long becomes a task, whose result is there when it has ended', async (t) => {
  const { result: task } = await evaluate(held.js);
  t.match(task, { resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000, taskId: String });
  t.match((await onTask('tasks/get', task.taskId)).result, { resultType: 'complete', status: 'working' });
  t.match((await onTask('tasks/update', task.taskId)).result, { resultType: 'complete' });
  await eventually('the script runs', () => held.running() === 1);
  held.finish();
  const view = async () => (await onTask('tasks/get', task.taskId)).result;
  await eventually('it has ended', async () => (await view()).status !== 'working');
  t.match(await view(), {
    status: 'completed',
    ttlMs: Number,
    result: { content: [{ text: '1' }, { text: /^sessionId: / }] },
  });
});

t.test('A cancelled task stops its script', async (t) => {
  const { result: task } = await evaluate(held.js);
  await eventually('the script runs', () => held.running() === 1);
  t.match((await onTask('tasks/cancel', task.taskId)).result, { resultType: 'complete' });
  t.match((await onTask('tasks/get', task.taskId)).result, { status: 'cancelled' });
  await eventually('its browser has ended', async () => (await house.sessions.list({ state: 'running' })).length === 0);
  t.match(await onTask('tasks/get', 'nope'), { error: { code: -32602 } });
});

t.test('A client that does not take tasks waits for its result', async (t) => {
  t.match(await evaluate('1 + 1', {}), { result: { resultType: 'complete', content: [{ text: '2' }] } });
});
