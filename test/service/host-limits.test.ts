import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService, type Teardown, type TestService } from '../support/service.js';

guardLeaks(t);

const FLOW = '({ url }) => { agent.go(url); };';

/** A site whose pages come only when they are let go: what is open there is what works on it at once. */
async function heldSite(t: Teardown) {
  const open = new Map<ServerResponse, string>();
  let most = 0;
  const site = createServer(({ headers: { host = '' }, url }, response) => {
    if (url !== '/held') return void response.end();
    open.set(response, host.replace(/:.*/, ''));
    response.on('close', () => open.delete(response));
    most = Math.max(most, on('127.0.0.1'));
  });
  const on = (host: string) => [...open.values()].filter((one) => one === host).length;
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    site.closeAllConnections();
    site.close();
  });
  const address = site.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    of: (host: string) => `http://${host}:${port}/held`,
    on,
    most: () => most,
    letGo(host: string) {
      for (const [response, one] of open) {
        if (one !== host) continue;
        open.delete(response);
        response.end('<p>Done</p>');
      }
    },
  };
}

t.test(
  'No more jobs than its limit work on a host at once, others pass them, and a restart keeps to it',
  {
    timeout: 120_000,
  },
  async (t) => {
    const home = makeHome(t, { maxSessions: 3, hostLimits: { '127.0.0.1': 1 } });
    const site = await heldSite(t);
    const submit = async (service: TestService, name: string, more: object) => {
      const request = { mode: 'auto', prompt: name, name, maxIterations: 0, flowFiles: ['examples/held.js'], ...more };
      const { status, body } = await service.call('POST', '/api/sessions', request);
      t.equal(status, 201, JSON.stringify(body));
      return String(body.id);
    };
    const stateOf = async (service: TestService, id: string) =>
      (await service.call('GET', `/api/sessions/${id}`)).body.state;
    writeFileSync(join(home, 'flows/examples/held.js'), FLOW);

    const first = await startTestService(t, {}, home);
    const limited: string[] = [];
    for (let n = 1; n <= 3; n += 1)
      limited.push(await submit(first, `limited ${n}`, { args: { url: site.of('127.0.0.1') } }));
    const free = await submit(first, 'free', { args: { url: site.of('localhost') } });
    await eventually('one of each works', () => site.on('127.0.0.1') === 1 && site.on('localhost') === 1, 30_000);
    t.same(await Promise.all([...limited, free].map((id) => stateOf(first, id))), [
      'running',
      'queued',
      'queued',
      'running',
    ]);
    t.match(
      (await first.call('GET', '/api/health')).body,
      { capacity: { running: 2, queued: 2 } },
      'a place is free, and not for them',
    );
    await first.stop(0);

    const second = await startTestService(t, {}, home);
    await eventually('the next one works', () => site.on('127.0.0.1') === 1, 30_000);
    const [, two = '', three = ''] = limited;
    t.same([await stateOf(second, two), await stateOf(second, three)], ['running', 'queued']);
    const named = await submit(second, 'named', { hosts: ['127.0.0.1'], args: { url: site.of('localhost') } });
    t.equal(await stateOf(second, named), 'queued', 'it says itself where it works');
    site.letGo('127.0.0.1');
    await eventually('the last one works', () => site.on('127.0.0.1') === 1, 30_000);
    site.letGo('127.0.0.1');
    await eventually('the named one works', () => site.on('localhost') === 1, 30_000);
    site.letGo('localhost');
    await eventually('all have ended', async () => (await stateOf(second, named)) === 'completed', 30_000);
    t.same([await stateOf(second, two), await stateOf(second, three)], ['completed', 'completed']);
    t.equal(site.most(), 1);
    const refused = await second.call('POST', '/api/jobs', {
      prompt: 'x',
      flowFiles: ['examples/held.js'],
      maxIterations: 0,
      hosts: ['http://a.test'],
    });
    t.match(refused, { status: 400, body: { code: 'INVALID_REQUEST', error: /hosts: .*without scheme/ } });
  },
);
