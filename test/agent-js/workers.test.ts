import t, { type Test } from 'tap';
import { openAgent, openBrowser, openSite, type Site } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const ECHO = 'onmessage = ({ data }) => postMessage(data * 2);';
const SHARED = 'onconnect = ({ ports: [port] }) => { port.onmessage = ({ data }) => port.postMessage(data * 2) };';
const SERVICE = `oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim());
  onmessage = ({ data, source }) => source.postMessage(data * 2);`;
const NESTED = `const inner = new Worker('/echo.js');
  inner.onmessage = ({ data }) => postMessage(data); onmessage = ({ data }) => inner.postMessage(data);`;

/** Each starts a worker and answers with a promise of 42. */
const STARTS = {
  'a dedicated worker of a URL': `new Promise((done) => { const worker = new Worker('/echo.js');
    worker.onmessage = ({ data }) => done(data); worker.postMessage(21) })`,
  'a worker of a blob': `new Promise((done) => {
    const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(ECHO)}])));
    worker.onmessage = ({ data }) => done(data); worker.postMessage(21) })`,
  'a module worker': `new Promise((done) => { const worker = new Worker('/echo.js', { type: 'module' });
    worker.onmessage = ({ data }) => done(data); worker.postMessage(21) })`,
  'a worker of a worker': `new Promise((done) => { const worker = new Worker('/nested.js');
    worker.onmessage = ({ data }) => done(data); worker.postMessage(21) })`,
  'a shared worker': `new Promise((done) => { const { port } = new SharedWorker('/shared.js');
    port.onmessage = ({ data }) => done(data); port.postMessage(21) })`,
  'a service worker': `navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready)
    .then(({ active }) => new Promise((done) => { navigator.serviceWorker.onmessage = ({ data }) => done(data);
      active.postMessage(21) }))`,
  'two workers at once': `Promise.all([1, 2].map(() => new Promise((done) => { const worker = new Worker('/echo.js');
    worker.onmessage = ({ data }) => done(data); worker.postMessage(21) }))).then(([one]) => one)`,
};

async function openWorkers(t: Test): Promise<Site> {
  const site = await openSite(t);
  site.set('/', '<title>Workers</title>');
  const scripts = { '/echo.js': ECHO, '/nested.js': NESTED, '/shared.js': SHARED, '/service.js': SERVICE };
  for (const [path, source] of Object.entries(scripts)) {
    site.set(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      response.end(source);
    });
  }
  return site;
}

t.test('Workers of a page run', async (t) => {
  const { origin } = await openWorkers(t);
  const agent = await openAgent(t, await openBrowser(t));
  await agent.call('go', `${origin}/`);
  for (const [what, start] of Object.entries(STARTS)) t.equal(await agent.call('page', start), 42, what);
});

t.test('A worker of a frame in another process runs', async (t) => {
  const site = await openWorkers(t);
  const inside = `<script>const worker = new Worker('/echo.js');
    worker.onmessage = ({ data }) => parent.postMessage('answer ' + data, '*'); worker.postMessage(21)</script>`;
  const frame = site.set('/inside', inside).replace('127.0.0.1', 'localhost');
  const page = `<title>Outside</title><button>waiting</button><iframe src="${frame}"></iframe>
    <script>onmessage = ({ data }) => { document.querySelector('button').textContent = data }</script>`;
  const agent = await openAgent(t, await openBrowser(t));
  await agent.call('go', site.set('/outside', page));
  t.match(await agent.call('wait', '{button}answer 42'), { waitedMs: Number });
});
