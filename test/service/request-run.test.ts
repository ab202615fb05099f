import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { startEcho } from '../../request-client/test/window/window-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);
const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const echo = await startEcho(t);
const service = await startTestService(t);
const exec = (...lines: string[]) => ({ script: { exec: lines } });
const request = (name: string, url: string, more: object = {}, event: object[] = []) => ({
  name,
  event,
  request: { method: 'POST', header: [], url, ...more },
});
mkdirSync(join(service.home, 'requests'));
writeFileSync(
  join(service.home, 'requests', 'users.json'),
  JSON.stringify({
    info: { name: 'Users', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    variable: [{ key: 'base', value: echo.origin }],
    item: [
      {
        name: 'Make',
        item: [
          request(
            'New user',
            '{{base}}/users',
            { body: { mode: 'raw', raw: '{"name": "{{name}}", "tags": {{tags}}}' } },
            [{ listen: 'test', ...exec("pm.collectionVariables.set('id', response.body.id)") }],
          ),
        ],
      },
      request('Look', '{{base}}/users/{{id}}'),
      request('Broken', '{{base}}/x', {}, [
        { listen: 'test', ...exec("pm.test('is made', () => pm.expect(response.status).to.equal(201))") },
      ]),
    ],
  }),
);
const { id } = await service.live();
const run = (js: string) => service.run(id, js);

t.test('a script sends a stored request with variables of its own; what its scripts set lasts', async (t) => {
  const made = await run(
    "const made = Request.run('users/Make/New user', {name: 'ada', tags: [1]}); [made.status, made.body.id, made.headers['content-type']]",
  );
  t.strictSame(made.body, [200, 7, 'application/json']);
  t.match(echo.heard.at(-1), { method: 'POST', url: '/users', body: '{"name": "ada", "tags": [1]}' });
  t.equal((await run("Request.run('users/Look').body.url")).body, '/users/7');
});

t.test('what goes wrong has a code that scripts can catch', async (t) => {
  t.match((await run("Request.run('users/Broken')")).body, { code: 'MATCH_FAILED', error: /is made.*201/ });
  t.match((await run("Request.run('users/Nobody')")).body, { code: 'NOT_FOUND', error: /no request 'Nobody'/ });
  t.match((await run("Request.run('nothing/here')")).body, { code: 'NOT_FOUND', error: /requests\/nothing\.json/ });
  t.match((await run("Request.run('../troupe/x')")).body, { code: 'SCRIPT_ERROR' });
  t.match((await run("Request.run('users/Look', {base: 'http://127.0.0.1:1'})")).body, {
    code: 'REQUEST_FAILED',
    error: /nothing is listening there/,
  });
});

t.test('an answer is read up to 2 MiB, however small it was packed', async (t) => {
  const packed = gzipSync(Buffer.alloc(100 * 1024 * 1024));
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const { body } = await run(`Request.run('users/Look', {base: 'http://127.0.0.1:${port}'})`);
  t.match(body, { code: 'REQUEST_FAILED', error: /more than 2097152 bytes/ });
  t.equal(asked, 1);
});

t.test('metadata addresses are closed to scripts', async (t) => {
  for (const base of ['http://169.254.169.254', 'http://[fd00:ec2::254]']) {
    const { body } = await run(`Request.run('users/Look', {base: '${base}'})`);
    t.match(
      body,
      { code: 'REQUEST_FAILED', error: /must not be reached from scripts: it is a metadata address/ },
      base,
    );
  }
});

t.test('a service that took any free port is closed to scripts at the port it has', async (t) => {
  const { port } = new URL(service.url);
  for (const host of ['127.0.0.1', 'localhost', '127.1', '[::1]', '0.0.0.0', 'x.localhost']) {
    const { body } = await run(`Request.run('users/Look', {base: 'http://${host}:${port}/api'})`);
    t.match(body, { code: 'REQUEST_FAILED', error: /it is the service itself/ }, host);
  }
});

t.test('a flow prepares its data, and a secret of the job reaches the request alone', async (t) => {
  writeFileSync(
    join(service.home, 'flows', 'prepare.js'),
    `({ shop }) => {
      const { text } = Request.run('users/Make/New user', { name: '{{pw}}', tags: [] });
      agent.go(shop);
      return text;
    }`,
  );
  const record = await service.job({
    prompt: 'Prepare',
    flowFiles: ['prepare.js'],
    maxIterations: 0,
    args: { shop: shop.url },
    secrets: { pw: 'correct horse' },
  });
  t.equal(record.status, 'completed');
  t.match(echo.heard.at(-1), { body: '{"name": "correct horse", "tags": []}' });
});
