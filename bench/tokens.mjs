// What does a model read over a task? Twenty-one steps of buying in the example shop go through the loop as they would with
// a model; every request is counted. Beside it the same conversation with the page told as Playwright MCP tells it: a
// snapshot with references after each step, all of them kept, as its clients do.
import { EMPTY_CONVERSATION } from '#troupe/autonomy/conversation.js';
import { ConversationRecord } from '#troupe/autonomy/conversation-record.js';
import { Loop } from '#troupe/autonomy/loop.js';
import { systemPrompt, taskMessage } from '#troupe/autonomy/prompt.js';
import { wireMessages, wireTools } from '#troupe/autonomy/wire.js';
import { startShop } from '../examples/shop/shop.mjs';
import { atMost } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

/** Of English and JSON alike, near enough for a ratio. */
const CHARACTERS_A_TOKEN = 4;

const DAY = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
const STEPS = [
  ['{input}User name', 'input', 'ada'],
  ['{input}Password', 'input', 'lovelace'],
  ['{button}Log in', 'click'],
  ['{a}Search', 'click'],
  ['{input}Search for', 'input', 'teapot'],
  ['{a}Blue teapot', 'click'],
  ['{input}Quantity', 'input', '2'],
  ['{button}Add to cart', 'click'],
  ['{a}Check out', 'click'],
  ['{input}Name', 'input', 'Ada Lovelace'],
  ['{input}Street and number', 'input', '12 St James Square'],
  ['{input}Postcode', 'input', 'SW1Y 4JH'],
  ['{input}City', 'input', 'London'],
  ['{select}Country', 'select', 'Belgium'],
  ['{input}Express, €12.50', 'check'],
  ['{input}Delivery date', 'input', DAY],
  ['{input}Reference', 'input', 'bench'],
  ['{textarea}Note for us', 'input', 'Please wrap them.'],
  ['{input}I accept the terms', 'check'],
  ['{button}Place order', 'click'],
];

export async function run() {
  const shop = await startShop({ port: 0 });
  const { run: script, agent, playwright, close } = await openTwoBrowsers({});
  try {
    const ours = await task(shop.url, script, agent);
    const { value: snapshots } = await playwright.run(peerTask, shop.url, STEPS);
    const peer = { kept: 0, newest: 0 };
    ours.requests.forEach((messages, index) => {
      peer.kept += tokens(withSnapshots(messages, snapshots, index, false));
      peer.newest += tokens(withSnapshots(messages, snapshots, index, true));
    });
    const own = ours.requests.reduce((sum, messages) => sum + tokens(messages), 0);
    print('the loop', own, ours.requests);
    print("Playwright's snapshots, all kept", peer.kept);
    print("Playwright's snapshots, the newest kept", peer.newest);
    const only = (list) =>
      Math.round(list.reduce((sum, text) => sum + text.length, 0) / list.length / CHARACTERS_A_TOKEN);
    console.log(`  a page: ${only(ours.pages)} tokens as the loop tells it, ${only(snapshots)} as a snapshot`);
    return [atMost('tokens: of the task, times all snapshots kept', own / peer.kept, 0.25)];
  } finally {
    await close();
    await shop.close();
  }
}

function print(what, total) {
  console.log(`  ${what.padEnd(42)}${Math.round(total).toLocaleString('en-US').padStart(10)} tokens`);
}

/** The task by the loop, its model played by the list of steps. Answers the messages of each request. */
async function task(base, script, agent) {
  const requests = [];
  const pages = [];
  const record = new ConversationRecord(EMPTY_CONVERSATION, (event) => {
    if (event.type === 'ToolAnswered' && event.data.page !== null) pages.push(event.data.page.text);
  });
  const scripts = [`agent.go('${base}/login')`, ...STEPS.map((step) => `agent.act(${step.map(text).join(', ')})`)];
  const caller = {
    async call(call, { messages }) {
      requests.push(messages);
      const js = scripts[call - 1];
      const made =
        js === undefined
          ? { name: 'done', arguments: JSON.stringify({ success: true, summary: 'Bought' }) }
          : { name: 'agent_eval', arguments: JSON.stringify({ js }) };
      const about = { call, attempt: 1, model: 'bench', durationMs: 0, text: '', finish: 'tool_calls' };
      const spent = { input: 0, cached: 0, output: 0 };
      record.emit({ type: 'ModelCallStarted', data: { call, attempt: 1, model: 'bench' } });
      record.emit({
        type: 'ModelCallFinished',
        data: { ...about, toolCalls: [{ id: `call_${call}`, ...made }], tokens: spent },
      });
    },
  };
  const signal = new AbortController().signal;
  const environment = {
    evaluate: async (js) => ({ end: { kind: 'result', json: JSON.stringify(await script(js)) }, console: [] }),
    look: () => agent.see({ deadline: performance.now() + 10_000, signal }),
    waitForControl: async () => 0,
  };
  const budget = { maxIterations: 100, maxTokens: null };
  const loop = new Loop({ record, caller, environment, budget, recorded: async () => undefined });
  const brief = { prompt: 'Buy two teapots.', notes: [], flows: [], args: [], secrets: [], before: { kind: 'none' } };
  const opening = async () => ({ model: 'bench', system: systemPrompt(brief), task: taskMessage(brief) });
  await loop.run({ opening }, signal);
  return { requests, pages };
}

/** The same steps by Playwright: a snapshot before the first, and one after each. */
async function peerTask(page, base, steps) {
  // As Playwright MCP answers a call.
  const snapshot = async () => {
    const yaml = await page.locator('body').ariaSnapshot({ mode: 'ai' });
    return `### Page\n- Page URL: ${page.url()}\n- Page Title: ${await page.title()}\n### Snapshot\n\`\`\`yaml\n${yaml}\n\`\`\``;
  };
  const snapshots = [await snapshot()];
  await page.goto(`${base}/login`);
  snapshots.push(await snapshot());
  for (const [locator, action, value] of steps) {
    const [, role, name] = /^\{(\w+)\}(.*)$/.exec(locator);
    const target =
      role === 'a' || role === 'button'
        ? page.getByRole(role === 'a' ? 'link' : 'button', { name, exact: true })
        : page.getByLabel(name, { exact: true });
    if (action === 'click') await target.click();
    else if (action === 'check') await target.check();
    else if (action === 'select') await target.selectOption({ label: value });
    else await target.fill(value);
    await page.waitForLoadState();
    snapshots.push(await snapshot());
  }
  return snapshots;
}

/** The same messages with snapshots in the place of the loop's pages. */
function withSnapshots(messages, snapshots, newest, newestOnly) {
  let at = 0;
  return messages.map((message) => {
    if (message.role !== 'tool' && !(message.role === 'user' && at === 0)) return message;
    const own = message.content.replace(/\n?(<page>[\s\S]*<\/page>|\(the page as it was then[^)]*\))/, '');
    const index = at++;
    const shown = newestOnly && index < newest ? '(left out)' : (snapshots[index] ?? '');
    return { ...message, content: `${own}\n${shown}` };
  });
}

function tokens(messages) {
  const request = { messages: wireMessages(messages), tools: wireTools([]) };
  return JSON.stringify(request).length / CHARACTERS_A_TOKEN;
}

function text(value) {
  return JSON.stringify(value);
}
