import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { killBrowser, runningBrowsers } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';

guardLeaks(t);

async function warm({ call }: Pick<TestService, 'call'>, count: number): Promise<void> {
  await eventually(`${count} warm browsers`, async () => {
    return (await call('GET', '/api/health')).body.capacity.warm === count;
  });
}

t.test('a create takes a warm browser, which no other session is ever given, and the pool refills', async (t) => {
  const service = await startTestService(t, { warmSessions: 2 });
  await warm(service, 2);
  const waiting = runningBrowsers();
  const [one, two] = await Promise.all([service.live(), service.live()]);
  t.same([one.id, two.id].sort(), waiting, 'the sessions have the browsers that waited');
  await warm(service, 2);
  const refilled = runningBrowsers().filter((id) => !waiting.includes(id));
  t.equal(refilled.length, 2);

  await service.run(one.id, `agent.go('data:text/html,<title>of one</title>')`);
  t.match(await service.run(one.id, 'agent.tabs().map((tab) => tab.title)'), { body: ['of one'] });
  await service.call('DELETE', `/api/sessions/${one.id}`);
  const three = await service.live();
  t.ok(refilled.includes(three.id));
  t.match(await service.run(three.id, 'agent.tabs().length'), { body: 1 });
});

t.test('a job takes a warm browser too, under its own id, and one whose options forbid it does not', async (t) => {
  const home = makeHome(t, { warmSessions: 1, maxSessions: 3 });
  writeFileSync(
    join(home, 'flows', 'whose.js'),
    'agent.go("data:text/html,<title>of the job</title>"); match(agent.page("navigator.userAgent"), args.agent); agent.wait(args.ms)',
  );
  const service = await startTestService(t, { warmSessions: 1, maxSessions: 3 }, home);
  const submit = async (more: object) => {
    const request = { prompt: 'whose', flowFiles: ['whose.js'], maxIterations: 0, ...more };
    return String((await service.call('POST', '/api/jobs', request)).body.id);
  };
  await warm(service, 1);
  const [waiting = ''] = runningBrowsers();
  const job = await submit({ userAgent: 'Shop/1.0', args: { agent: 'Shop/1.0', ms: 500 } });
  await service.seen(job, 'StepFinished');
  t.not(job, waiting);
  t.ok(runningBrowsers().includes(waiting), 'it runs in the browser that waited');
  t.notOk(runningBrowsers().includes(job));
  await service.seen(job, 'SessionEnded');
  t.match((await service.call('GET', `/api/jobs/${job}`)).body, { state: 'completed', error: null });
  await eventually('its browser is gone', () => !runningBrowsers().includes(waiting));

  await warm(service, 1);
  const own = await submit({ locale: 'de-DE', args: { agent: '#string', ms: 500 } });
  await service.seen(own, 'StepFinished');
  t.ok(runningBrowsers().includes(own), 'a language is a matter of the start');
  await service.seen(own, 'SessionEnded');
});

t.test('what a page can be told later is given to a warm browser, the rest starts one of its own', async (t) => {
  const seen: (string | undefined)[][] = [];
  const site = createServer(({ headers }, answer) => {
    seen.push([headers['user-agent'], headers['x-team']?.toString()]);
    answer.end('<title>here</title>');
  }).listen(0, '127.0.0.1');
  t.teardown(() => site.close());
  await once(site, 'listening');
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const service = await startTestService(t, { warmSessions: 1 });

  await warm(service, 1);
  const [waiting = ''] = runningBrowsers();
  const told = await service.live({
    userAgent: 'Shop/1.0',
    headers: { 'x-team': 'shop' },
    timezone: 'Asia/Tokyo',
    storageState: { cookies: [{ name: 'seat', value: '7', domain: '127.0.0.1', path: '/' }] },
  });
  t.equal(told.id, waiting);
  await service.run(told.id, `agent.go(${JSON.stringify(url)})`);
  t.same(seen[0], ['Shop/1.0', 'shop']);
  t.match(await service.run(told.id, `agent.page('new Date().getTimezoneOffset() + document.cookie')`), {
    body: '-540seat=7',
  });

  await warm(service, 1);
  const ready = runningBrowsers();
  const own = await service.live({ locale: 'de-DE', viewport: { width: 900, height: 600 } });
  t.notOk(ready.includes(own.id));
  t.match(await service.run(own.id, `agent.page('navigator.language + innerWidth')`), { body: 'de-DE900' });
  t.match(await service.call('POST', '/api/sessions', { timezone: 'Mars/Olympus' }), {
    status: 400,
    body: { code: 'INVALID_REQUEST', details: { issues: [{ path: 'timezone' }] } },
  });
});

t.test('sessions and warm browsers together are never more than maxSessions', async (t) => {
  const service = await startTestService(t, { warmSessions: 2, maxSessions: 2 });
  await warm(service, 2);
  const own = await service.live({ locale: 'fr-FR' });
  t.equal(runningBrowsers().length, 2, 'a warm one made room');
  const taken = await service.live();
  t.same(runningBrowsers(), [own.id, taken.id].sort());
  await service.call('DELETE', `/api/sessions/${own.id}`);
  await warm(service, 1);
  t.equal(runningBrowsers().length, 2);
});

t.test('a warm browser that died is replaced, and a create at that moment is served all the same', async (t) => {
  const service = await startTestService(t, { warmSessions: 1 });
  await warm(service, 1);
  const [first = ''] = runningBrowsers();
  killBrowser(first);
  t.match(await service.run((await service.live()).id, '1 + 1'), { body: 2 });
  await warm(service, 1);
});

t.test('warm browsers end with the service, however it ends', async (t) => {
  const home = makeHome(t, { warmSessions: 1 });
  const first = await startServiceProcess(t, home);
  await warm(client(first.url), 1);
  const [left = ''] = runningBrowsers();
  await first.end('SIGKILL');
  t.same(runningBrowsers(), [left]);

  const second = await startServiceProcess(t, home);
  await eventually('the old one is removed', () => !runningBrowsers().includes(left));
  await warm(client(second.url), 1);
  t.same(await second.end('SIGTERM'), { code: 0, signal: null });
  t.same(runningBrowsers(), []);
});
