import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { bridgeAddress } from '#troupe/service/choose-driver.js';
import { startShop } from '../../examples/shop/shop.mjs';
import { runningBrowsers } from '../support/browsers.js';
import { containerOf, containersOf, engineInUse, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService } from '../support/service.js';
import { runTroupe, startServiceProcess } from '../support/service-process.js';

guardLeaks(t);
const options = { skip: skipWithoutDocker };

async function listen(
  t: { teardown(work: () => unknown): void },
  host: string,
  answer: RequestListener,
): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

t.test(
  'The walk of the README, a job, and files both ways work in containers, which go with their sessions',
  options,
  async (t) => {
    const shop = await startShop({ port: 0 });
    t.teardown(() => shop.close());
    const port = Number(new URL(shop.url).port);
    const service = await startTestService(t, { driver: 'docker', warmSessions: 1 });
    t.match((await service.call('GET', '/api/health')).body, { driver: 'docker' });
    const { id } = await service.live({ forward: [port] });
    const value = async (js: string) => {
      const { status, body } = await service.run(id, js);
      t.equal(status, 200, `${js}: ${JSON.stringify(body)}`);
      return body;
    };
    t.match(await value(`agent.go(${JSON.stringify(shop.url)})`), { url: `${shop.url}/`, status: 200 });
    t.match(await value('agent.act("{a}Log in", "click")'), { changed: true, url: `${shop.url}/login` });
    t.equal(await value('match(agent.look(), {url: "#regex .*/login", title: "#string"})'), true);

    await service.call('PUT', `/api/sessions/${id}/files/note.txt`, 'carried in');
    const page = `<input type=file aria-label=File onchange="files[0].text().then(x => document.title = x)">
    <a download=out.txt href="data:text/plain,carried%20out">Save</a>`;
    await value(`agent.go('data:text/html,' + encodeURIComponent(${JSON.stringify(page)}))`);
    await value(`agent.act('{input}File', 'upload', 'note.txt')`);
    await eventually(
      'the page has read it',
      async () => (await value('agent.page("document.title")')) === 'carried in',
    );
    await value(`agent.act('{a}Save', 'click')`);
    t.match(await value('agent.downloads()'), [{ name: 'out.txt', bytes: 11 }]);
    t.equal((await service.call('GET', `/api/sessions/${id}/files/out.txt`)).body, 'carried out');

    const job = await service.job({ flowFiles: ['examples/buy.js'], forward: [port], args: { base: shop.url } });
    t.match(job, { state: 'completed', error: null, driver: 'docker' });

    const container = await containerOf(id);
    await service.call('DELETE', `/api/sessions/${id}`);
    await eventually('the container is gone', async () => (await containerOf(id)) === '');
    t.not(container, '');
    t.equal((await service.call('GET', `/api/sessions/${id}/files/out.txt`)).body, 'carried out', 'it is kept');
    await service.stop(0);
    t.same(readdirSync(join(service.home, 'tmp', 'containers')), []);
  },
);

t.test(
  'Pages reach what egress leaves open, by its name, its address and after a redirect, and never the service',
  options,
  async (t) => {
    const bridge = String(await bridgeAddress(engineInUse()));
    const port = await listen(t, bridge, (request, response) => {
      const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
      if (to !== null) response.writeHead(302, { location: to });
      response.end('<title>host</title>');
    });
    process.env.SESSIONS_TEST_TOKEN = 'correct-horse';
    t.teardown(() => delete process.env.SESSIONS_TEST_TOKEN);
    const started = await startTestService(t, {
      driver: 'docker',
      warmSessions: 0,
      publicUrl: 'http://troupe.test:80',
      token: 'SESSIONS_TEST_TOKEN',
    });
    const service = client(started.url, { authorization: 'Bearer correct-horse' });
    const own = new URL(service.url).port;
    const [open, closed] = await Promise.all([
      service.live({ forward: [Number(own)] }),
      service.live({ egress: { deny: [`${bridge}/32`] } }),
    ]);
    const go = async (id: string, url: string) => (await service.run(id, `agent.go(${JSON.stringify(url)})`)).body;
    const host = `http://host.docker.internal:${port}/`;
    t.match(await go(open.id, host), { title: 'host', status: 200 });
    t.match(await go(open.id, `http://${bridge}:${port}/`), { title: 'host' });
    for (const url of [
      `http://localhost:${own}/`,
      `http://${bridge}:${own}/`,
      'http://troupe.test/',
      `${host}?to=http://localhost:${own}/api/health`,
    ]) {
      t.match(await go(open.id, url), { code: 'ACTION_FAILED', error: /closed to this session/ }, url);
    }
    for (const url of [host, `http://${bridge}:${port}/`]) {
      t.match(await go(closed.id, url), { code: 'ACTION_FAILED', error: /closed to this session/ }, url);
    }
    t.match(await service.call('POST', '/api/sessions', { egress: { deny: ['http://x/'] } }), { status: 400 });
  },
);

t.test(
  'After kill -9 of the service the next one goes on with living sessions and removes every other container',
  options,
  async (t) => {
    const home = makeHome(t, { driver: 'docker', warmSessions: 1 });
    const first = await startServiceProcess(t, home);
    const before = client(first.url);
    const live = await before.live();
    await before.run(
      live.id,
      `agent.go('data:text/html,<input aria-label=Name>'); agent.act('{input}Name', 'input', 'typed before')`,
    );
    const label = `troupe.instance=${(await containersOf(`troupe.lease=${live.id}`))[0]?.Labels['troupe.instance']}`;
    await first.end('SIGKILL');
    const orphans = (await containersOf(label)).map(({ Id }) => Id);
    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    t.match(await after.run(live.id, `agent.value('{input}Name')`), { body: 'typed before' });
    t.equal(
      (await containersOf(label)).filter(({ Id }) => orphans.includes(Id)).length,
      1,
      'the adopted one alone is left',
    );
    await second.end('SIGKILL');
    t.not((await containersOf(label)).length, 0);
    const third = await startServiceProcess(t, home, '--driver', 'process');
    t.same(await containersOf(label), [], 'a service without containers removes those that are left');
    t.notOk(existsSync(join(home, 'tmp', 'containers')), 'and their folders');
    const { id } = await client(third.url).live();
    t.ok(runningBrowsers().includes(id));
    await third.end('SIGKILL');
    const fourth = await startServiceProcess(t, home);
    t.same(runningBrowsers(), [], 'and one with containers those that have none');
    t.match((await client(fourth.url).call('GET', `/api/sessions/${id}`)).body, { error: { code: 'WORKER_LOST' } });
    await fourth.end('SIGTERM');
  },
);

t.test('Without an engine or the image the docker driver says what mends it, and auto goes on without', async (t) => {
  const dockerHost = process.env.DOCKER_HOST;
  t.teardown(() => {
    if (dockerHost === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = dockerHost;
  });
  if (skipWithoutDocker === false) {
    t.match(await runTroupe(makeHome(t), 'setup'), { code: 0, output: /Worker image: troupe-worker:\w+ exists/ });
    const home = makeHome(t, { driver: 'docker', worker: { image: 'troupe-worker:no-such-image' } });
    t.match(await runTroupe(home, 'dashboard', '--port', '0'), {
      code: 1,
      output: /no-such-image is not there; run node dist\/cli\.js setup/,
    });
  }
  process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';
  t.match(await runTroupe(makeHome(t, { driver: 'docker' }), 'dashboard', '--port', '0'), {
    code: 1,
    output: /no such socket.*start Docker/,
  });
  const home = makeHome(t, { driver: 'auto' });
  writeFileSync(join(home, 'deaf.sock'), '');
  process.env.DOCKER_HOST = `unix://${home}/deaf.sock`;
  t.match(await runTroupe(home, 'dashboard', '--port', '0', '--driver', 'docker'), {
    code: 1,
    output: /no engine is listening.*start Docker/,
  });
  const service = await startServiceProcess(t, home);
  await eventually('it says why', async () =>
    /process driver.*Docker is not used: .*no engine is listening/.test(service.output()),
  );
  await service.end('SIGTERM');
  t.ok(existsSync(join(home, 'tmp')));
});
