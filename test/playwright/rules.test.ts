import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { type Command, PausedRequests } from '#troupe/playwright/session/paused-requests.js';
import { inContainers } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startWithThreads } from '../support/session-threads.js';

guardLeaks(t);

/** A page that asks for something of its own accord, all the time; what it got is in its title. */
const ASKING = `<title>asks</title><script>
window.seen = [];
setInterval(async () => {
  const status = await fetch('/mocked').then((answer) => answer.status, () => 'failed');
  window.seen.push(status);
}, 50)</script>`;

let reached = 0;
const server = createServer((request, response) => {
  if (request.url === '/mocked') reached += 1;
  response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/' ? ASKING : 'real');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const { service, loseSessionThreads } = await startWithThreads(t, { forward: [port], evalTimeout: 15 });

const MOCKED = `page.route('**/mocked', {status: 204}); page.goto('${url}'); page.waitForFunction(() => seen.length > 3)`;
const seen = (id: string) => service.run(id, 'agent.page("window.seen.splice(0)")');

t.test('rules stand while Playwright is connected anew after a call that never ended', async (t) => {
  const { id } = await service.live();
  t.match(await service.run(id, MOCKED), { status: 200 });
  const endless = 'page.evaluate(() => new Promise(() => undefined))';
  t.match(await service.run(id, endless), { body: { code: /^(WAIT|EVAL)_TIMEOUT$/ } });
  await seen(id);
  // No script asks for Playwright meanwhile: the page alone does.
  await eventually('the page goes on asking', async () => (await seen(id)).body.includes(204));
  t.match(await service.run(id, 'page.evaluate(() => fetch("/mocked").then((answer) => answer.status))'), {
    body: 204,
  });
  t.equal(reached, 0, 'no request has come through');
});

t.test('requests that a lost Playwright held fail if they had a rule, and go on if not', async (t) => {
  const paused = new PausedRequests();
  const event = (requestId: string, path: string) => {
    const params = { requestId, request: { url: `http://a.test/${path}` } };
    return JSON.stringify({ method: 'Fetch.requestPaused', params, sessionId: 's' });
  };
  paused.observe(event('1', 'mocked'));
  paused.observe(event('2', 'real'));
  paused.observe(event('3', 'mocked'));
  paused.observe(JSON.stringify({ method: 'Runtime.consoleAPICalled', params: { text: '"Fetch.requestPaused"' } }));
  paused.answered({ method: 'Fetch.fulfillRequest', params: { requestId: '3' } });
  const sent: Command[] = [];
  // The browser holds one more request before it answers, and knows nothing of ids that Playwright did not send.
  const send = (command: Command) => {
    if (command.method === 'Browser.getVersion') {
      paused.observe(event('4', 'mocked'));
      t.equal(
        paused.observe(JSON.stringify({ id: command.id, result: {} })),
        true,
        'Playwright does not see the answer',
      );
    } else sent.push(command);
    return true;
  };
  const isRouted = async (url: string) => url.endsWith('mocked');
  await paused.answerAll(send, isRouted);
  await paused.answerAll(send, isRouted);
  t.match(sent, [
    { method: 'Fetch.failRequest', params: { requestId: '1', errorReason: 'Aborted' }, sessionId: 's' },
    { method: 'Fetch.continueRequest', params: { requestId: '2' }, sessionId: 's' },
    { method: 'Fetch.failRequest', params: { requestId: '4', errorReason: 'Aborted' }, sessionId: 's' },
    { method: 'Fetch.failRequest', params: { requestId: '4', errorReason: 'Aborted' }, sessionId: 's' },
  ]);
  t.equal(sent.length, 4);
});

t.test(
  'a page whose rules are lost with its thread is closed, and the next script gets SESSION_RESTARTED',
  async (t) => {
    const { id } = await service.live();
    const other = await service.live();
    t.match(await service.run(id, MOCKED), { status: 200 });
    // Requests that the rules hold at the moment when the thread ends.
    const asking = 'setInterval(() => fetch("/mocked").catch(() => undefined), 2); null';
    t.match(await service.run(id, `page.evaluate(${JSON.stringify(asking)})`), { status: 200 });
    t.match(await service.run(other.id, `page.goto('${url}other'); 1`), { body: 1 });
    await loseSessionThreads();
    t.match(await service.run(id, 'page.url()'), {
      status: 502,
      body: { code: 'SESSION_RESTARTED', details: { pageLost: true } },
    });
    t.match(await service.run(id, 'page.url()'), { body: 'about:blank' });
    // The DevTools connection to a container ends with the thread, and so do the rules.
    if (!inContainers) t.equal(reached, 0, 'no request has come through');
    t.match(await service.run(other.id, 'page.url()'), { body: `${url}other` }, 'one without rules keeps its page');
    t.match(await service.run(id, MOCKED), { status: 200 });
    t.match(await service.run(id, "page.unroute('**/mocked'); 1"), { body: 1 });
    await loseSessionThreads();
    t.match(await service.run(id, 'page.url()'), { body: url }, 'nor does one whose rules were ended lose it');
  },
);
