import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { ReplayMemory } from '#troupe/gateway/mcp/replay-memory.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

const result = (id: number, text = ''): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { text } });
const note = (progress: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress },
});
/** What the transport stores to give a stream its first id. */
const PRIMING = {} as JSONRPCMessage;

async function replayed(memory: ReplayMemory, lastEventId: string): Promise<JSONRPCMessage[]> {
  const messages: JSONRPCMessage[] = [];
  await memory.replayEventsAfter(lastEventId, { send: async (_, message) => void messages.push(message) });
  return messages;
}

t.test('Messages after an event are repeated in order, for its stream only', async (t) => {
  const memory = new ReplayMemory();
  const first = await memory.storeEvent('a', PRIMING);
  await memory.storeEvent('b', note(9));
  const second = await memory.storeEvent('a', note(1));
  t.same(memory.after(first), { messages: 1, isComplete: false });
  const last = await memory.storeEvent('a', result(1));
  t.same(memory.after(first), { messages: 2, isComplete: true });
  t.same(await replayed(memory, first), [note(1), result(1)]);
  t.same(await replayed(memory, second), [result(1)]);
  t.same(memory.after(last), { messages: 0, isComplete: true }, 'nothing more to come');
});

t.test('An event that never existed, and one of a dropped stream, are unknown', async (t) => {
  const memory = new ReplayMemory();
  const id = await memory.storeEvent('a', note(1));
  for (const unknown of ['', 'x', '2_a', '1_b', '-1_a', `${id} `, '1']) t.equal(memory.after(unknown), null, unknown);
  for (let n = 0; n < 300; n += 1) await memory.storeEvent('b', note(n));
  t.equal(memory.after(id), null);
});

t.test('A gap is never skipped silently: a client that missed dropped messages learns it', async (t) => {
  const memory = new ReplayMemory();
  const ids: string[] = [];
  for (let n = 0; n < 300; n += 1) ids.push(await memory.storeEvent('a', note(n)));
  t.equal(memory.after(ids[0] ?? ''), null, '256 are kept');
  t.equal(memory.after(ids[42] ?? ''), null);
  t.same(memory.after(ids[43] ?? ''), { messages: 256, isComplete: false });
  t.equal((await replayed(memory, ids[43] ?? '')).length, 256);
});

t.test(
  'Text is limited too, and an answer that is too large to be stored is replaced by an error that says so',
  async (t) => {
    const memory = new ReplayMemory();
    const first = await memory.storeEvent('a', PRIMING);
    for (let n = 0; n < 10; n += 1) await memory.storeEvent('b', result(n, 'x'.repeat(200_000)));
    t.equal(memory.after(first), null, 'the oldest went');
    const primed = await memory.storeEvent('c', PRIMING);
    await memory.storeEvent('c', result(7, 'x'.repeat(5_000_000)));
    t.match(await replayed(memory, primed), [{ id: 7, error: { message: /too large to be stored/ } }]);
  },
);
