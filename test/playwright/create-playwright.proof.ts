import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { TODO_PAGE } from './todo-page.js';

guardLeaks(t);

/** The tests that `npm init playwright` writes into a new project. */
const PACKAGE = 'create-playwright@1.17.134';
const DEMO = 'https://demo.playwright.dev/todomvc';
const INSTALL_MS = 120_000;

const folder = t.testdir({ 'package.json': '{"private": true}' });
const words = ['install', PACKAGE, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'ignore', timeout: INSTALL_MS });
const skip = status !== 0 && 'create-playwright cannot be had: is the npm registry reachable?';

t.test('the 24 example tests of create-playwright pass as one flow', { skip }, async (t) => {
  let visits = 0;
  const server = createServer((request, response) => {
    const isPage = request.url === '/todomvc';
    if (isPage) visits += 1;
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html' }).end(isPage ? TODO_PAGE : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const service = await startTestService(t, { forward: [port] });
  const assets = join(folder, 'node_modules/create-playwright/assets');
  const source = readFileSync(join(assets, 'demo-todo-app.spec.js'), 'utf8');
  t.equal(source.match(/^ *test\('/gm)?.length, 24);
  const flow = source.replaceAll(DEMO, `http://127.0.0.1:${port}/todomvc`);
  writeFileSync(join(service.home, 'flows', 'demo-todo-app.js'), flow);
  const record = await service.job({ flowFiles: ['demo-todo-app.js'], hardTimeout: 300, waitTimeout: 300 });
  t.match(record, { status: 'completed', error: null });
  t.equal(visits, 25, 'each test opened the page, and one reloaded it');
});
