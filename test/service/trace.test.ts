import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { readTrace, unzipped } from '../support/trace.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

const CANARY = 'canary-4711 "ü" <secret>';
const SPELLINGS = [
  CANARY,
  'canary-4711',
  encodeURIComponent(CANARY),
  Buffer.from(CANARY).toString('base64'),
  Buffer.from(CANARY).toString('hex'),
];

const FLOW = `// The canary in a comment: ${CANARY}
agent.go(args.base);
agent.act('{input}Name', 'input', '{{card}}');
page.getByLabel('Name').fill('{{card}}');
await page.getByRole('button', { name: 'Send' }).click();
await expect(page.locator('#out')).toHaveText(/^echo/);
console.log(page.locator('#out').textContent());
agent.text('#out');
page.evaluate(() => { setTimeout(() => { throw new Error(document.querySelector('#name').value) }) });
agent.act('{button}Send', 'click');
`;
/** Posts what is typed, in a body, an address and a header, and writes everywhere what comes back. */
const PAGE = `<!doctype html><title>Form</title><label>Name <input id="name"></label>
<button onclick="send(document.querySelector('#name').value)">Send</button><p id="out"></p>
<script>
  async function send(value) {
    const headers = { 'x-canary': encodeURIComponent(value), 'x-base64': btoa(unescape(encodeURIComponent(value))) };
    const response = await fetch('/echo?q=' + encodeURIComponent(value), { method: 'POST', body: value, headers });
    const echo = await response.text();
    document.title = echo;
    history.replaceState(null, '', '/?done=' + encodeURIComponent(value));
    console.warn('echoed', echo, { echo });
    document.querySelector('#out').textContent = 'echo ' + echo;
  }
</script>`;

const echoed: string[] = [];
const server = createServer(async (request, response) => {
  const body = await text(request);
  if (body !== '') echoed.push(body);
  const header = encodeURIComponent(body);
  response.writeHead(200, { 'content-type': 'text/html', 'x-echo': header, 'set-cookie': `c=${header}` });
  response.end(request.url?.startsWith('/echo') ? body : PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const base = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port], warmSessions: 1 });
const flows = join(service.home, 'flows');
mkdirSync(join(flows, 'shop'), { recursive: true });
writeFileSync(join(flows, 'shop', 'send.js'), FLOW);
writeFileSync(join(flows, 'short.js'), 'agent.go(args.base)');
const artifacts = (id: string) => readZip(`${service.url}/api/sessions/${id}/download`);

t.test(
  'a trace has steps of both kinds with picture, line, console and network, and no file has a secret',
  async (t) => {
    const { id, status, error } = await service.job({
      flowFiles: ['shop/send.js'],
      args: { base },
      secrets: { card: CANARY },
      trace: 'on',
      maxIterations: 0,
    });
    t.equal(status, 'completed', JSON.stringify(error));
    t.same(echoed, [CANARY, CANARY], 'it was posted and echoed');
    const zip = await artifacts(id);
    const trace = await readTrace(zip.get('trace.zip'));

    const steps = trace.lines.filter(({ type, method }) => type === 'before' && method === 'step');
    t.match(
      steps.map(({ title }) => title),
      [/^agent\.go/, /^agent\.act\(.*card/, /^page.*fill/, /^page.*click/, /^expect/, /^page\.evaluate/, /^agent\.act/],
    );
    t.same(
      steps.map(({ stack }) => stack?.[0]?.line),
      [2, 3, 4, 5, 6, 9, 10],
    );
    const group = trace.lines.find(({ title }) => title === 'shop/send')?.callId;
    t.type(group, 'string');
    t.ok(steps.every(({ parentId }) => parentId === group));
    const pictured = trace.lines.filter(({ type, phase }) => type === 'screenshot' && phase === 'after');
    t.equal(pictured.length, steps.length, 'each step shows the page after it');
    t.ok(pictured.every(({ file }) => trace.files.has(file)));
    t.match(
      trace.lines.find(({ type }) => type === 'console'),
      { messageType: 'warning', text: /^echoed \{\{card\}\}/ },
    );
    t.ok(trace.lines.some(({ method }) => method === 'pageError'));
    t.ok(trace.lines.some(({ type }) => type === 'stdout'));
    t.match(
      trace.network.map(({ snapshot }) => snapshot.request.method),
      ['GET', 'POST'],
    );
    const [source] = [...trace.files].filter(([name]) => name.includes('src@')).map(([, content]) => String(content));
    t.match(source, 'agent.act');

    for (const [where, files] of [
      ['the zip', zip],
      ['the trace', await unzipped(zip.get('trace.zip') as Buffer)],
    ] as const) {
      for (const [name, content] of files) {
        for (const spelling of SPELLINGS) {
          t.notOk(content.includes(spelling) || name.includes(spelling), `${where}: ${name} has no ${spelling}`);
        }
      }
    }
  },
);

t.test('a job that completed has no trace that was wanted for failures, and one that failed has', async (t) => {
  const common = { args: { base }, trace: 'on-failure', maxIterations: 0 };
  const passed = await service.job({ ...common, flowFiles: ['short.js'] });
  t.notOk((await artifacts(passed.id)).has('trace.zip'));
  t.equal((await service.call('POST', `/api/sessions/${passed.id}/trace`)).status, 404);
  const failed = await service.job({ ...common, flowFiles: ['short.js'], args: { base: 'nothing:' } });
  t.equal(failed.status, 'failed');
  const { lines } = await readTrace((await artifacts(failed.id)).get('trace.zip'));
  t.ok(lines.some(({ type, error }) => type === 'after' && error?.message));
});

t.test(
  'a live session with a trace has one while it runs, in which scripts are groups; others have none',
  async (t) => {
    const { id } = await service.live({ trace: 'on' });
    t.equal(
      (await service.run(id, `agent.go(${JSON.stringify(base)});\nagent.act('{button}Send', 'click')`)).status,
      200,
    );
    await service.call('GET', `/api/sessions/${id}/report.json`);
    const { lines, files } = await readTrace((await artifacts(id)).get('trace.zip'));
    const steps = lines.filter(({ type, method }) => type === 'before' && method === 'step');
    t.match(steps[0]?.stack, [{ file: 'script-1.js', line: 1 }]);
    t.match(lines.find(({ callId }) => callId === steps[0]?.parentId)?.title, 'script 1');
    t.equal(
      lines.filter(({ type, phase }) => type === 'screenshot' && phase === 'after').length,
      2,
      'each step is pictured',
    );
    t.ok([...files.keys()].some((name) => name.startsWith('resources/src@')));

    const plain = await service.live();
    t.equal(plain.trace, undefined);
    t.notOk((await artifacts(plain.id)).has('trace.zip'));
    t.equal((await service.call('GET', `/api/sessions/${plain.id}/trace`)).status, 404);
  },
);
