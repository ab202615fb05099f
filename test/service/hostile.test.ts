import { once } from 'node:events';
import t from 'tap';
import WebSocket from 'ws';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

t.test('What wants to do harm from inside a session does none', async (t) => {
  const site = await openSite(t);
  const service = await startTestService(t, { forward: [Number(new URL(site.origin).port)] });
  const { id } = await service.live();
  const run = async (js: string) => (await service.run(id, js)).body;

  await t.test('a page in the browser gets no word of the API, and changes nothing by it', async (t) => {
    // What a page can send without being asked first, and what it can read where it is let.
    const attacks = `(async () => {
      const api = ${JSON.stringify(service.url)};
      const outcome = (promise) => promise.then((value) => 'let in: ' + value, () => 'refused');
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: api + '/api/sessions', target: 'hidden', enctype: 'text/plain' });
      form.innerHTML = '<input name=\\'{"name":"\\' value=\\'by form"}\\'>';
      const frame = Object.assign(document.createElement('iframe'), { name: 'hidden' });
      document.body.append(frame, form);
      const answered = new Promise((resolve) => frame.addEventListener('load', resolve));
      form.submit();
      await answered;
      const socket = (path) => outcome(new Promise((resolve, reject) => {
        const socket = new WebSocket(api.replace('http', 'ws') + path);
        socket.onopen = () => resolve('open');
        socket.onerror = reject;
      }));
      const events = outcome(new Promise((resolve, reject) => {
        const source = new EventSource(api + '/api/events');
        source.onopen = () => resolve('open');
        source.onerror = () => { source.close(); reject(); };
      }));
      return Promise.all([
        outcome(fetch(api + '/api/sessions').then((answer) => answer.text())),
        outcome(fetch(api + '/api/sessions', { method: 'POST', body: '{"name":"by fetch"}' }).then((answer) => answer.text())),
        outcome(fetch(api + '/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })),
        outcome(fetch(api + '/api/sessions/${id}', { method: 'DELETE' })),
        socket('/api/stream'),
        socket('/sessions/${id}/cdp'),
        events,
      ]);
    })()`;
    const blind = `fetch(${JSON.stringify(`${service.url}/api/sessions`)}, { method: 'POST', mode: 'no-cors', body: '{"name":"blind"}' }).then(() => 1)`;
    await run(`agent.go(${JSON.stringify(site.set('/evil', '<title>Evil</title>'))})`);
    t.same(await run(`agent.page(${JSON.stringify(attacks)})`), Array(7).fill('refused'));
    await run(`agent.page(${JSON.stringify(blind)})`);
    t.match(
      (await service.call('GET', '/api/sessions')).body,
      [{ id, status: 'running' }],
      'nothing was made or removed',
    );
    t.equal((await service.call('GET', '/api/sessions')).body.length, 1);
  });

  await t.test('a name that means this machine to the page is no name of the service', async (t) => {
    // As with DNS rebinding: the address is right, the name is the attacker's.
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/stream`, {
      headers: { host: 'rebound.test', origin: 'http://rebound.test' },
    });
    socket.on('error', () => undefined);
    const [, answer] = await once(socket, 'unexpected-response');
    socket.terminate();
    t.equal(answer.statusCode, 403);
  });

  await t.test('no name of a file leads out of the zip', async (t) => {
    t.equal((await service.call('PUT', `/api/sessions/${id}/files/..evil`, 'x')).status, 201);
    await service.call('DELETE', `/api/sessions/${id}`);
    const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
    // Its reader is one that refuses such names by itself.
    t.ok(zip.size > 3);
    for (const name of zip.keys()) t.notMatch(name, /(^|[/\\])\.\.([/\\]|$)|^[/\\]|^[a-z]:|\\/i, name);
  });

  await t.test('no name writes a line into the head of an answer', async (t) => {
    const made = await service.live({
      name: 'a"\r\nSet-Cookie: evil=1\r\n\r\n<script>',
      labels: { 'a\r\nb': 'c\r\nd' },
    });
    const file = `/api/sessions/${made.id}/files/${encodeURIComponent('a"; filename=evil.exe; é.txt')}`;
    t.equal((await service.call('PUT', file, 'x')).status, 201);
    const shown = await service.call('GET', file);
    await service.call('DELETE', `/api/sessions/${made.id}`);
    for (const { status, headers } of [shown, await service.call('GET', `/api/sessions/${made.id}/download`)]) {
      t.equal(status, 200);
      t.equal(headers.get('set-cookie'), null);
      t.match(headers.get('content-disposition'), /^attachment; filename="[^"\\]+"(; filename\*=UTF-8''[\w%.-]+)?$/);
    }
  });
});
