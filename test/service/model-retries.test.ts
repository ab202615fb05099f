import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { killBrowser } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** A page that says how often it was asked for, and whether this browser had been there before. */
async function openVisits(t: Test) {
  const site = await openSite(t);
  const visits: { again: boolean }[] = [];
  const url = site.set('/visit', (request, response) => {
    visits.push({ again: request.headers.cookie !== undefined });
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'been=here' });
    response.end(`<title>Visit</title><p id=n>${visits.length}</p>`);
  });
  return { url, visits };
}

function writeFlow(home: string, source: string): void {
  writeFileSync(join(home, 'flows', 'visit.js'), source);
}

async function artifacts(service: Pick<TestService, 'url'>, id: string) {
  const zip = await readZip(`${service.url}/api/jobs/${id}/download`);
  const report = JSON.parse(zip.get('report.json')?.toString() ?? '');
  return { zip, report, junit: zip.get('report.junit.xml')?.toString() ?? '' };
}

t.test('a job with retries begins again in a fresh browser, until an attempt passes or none is left', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const { url, visits } = await openVisits(t);
  writeFlow(service.home, `({ wanted }) => { agent.go('${url}'); match(agent.text('#n'), wanted) }`);
  const job = { flowFiles: ['visit.js'], retries: 2 };

  const passed = await service.job({ ...job, args: { wanted: '2' } });
  t.match(passed, { state: 'completed', attempt: 2, error: null });
  t.same(visits, [{ again: false }, { again: false }]);
  const { report, junit, zip } = await artifacts(service, passed.id);
  t.match(report, {
    flows: [{ path: 'visit', status: 'passed' }],
    attempts: [{ attempt: 1, error: { code: 'FLOW_FAILED' }, flows: [{ path: 'visit', status: 'failed' }] }],
    steps: [{ index: 1 }, { index: 2, error: { code: 'MATCH_FAILED' } }, { index: 3, attempt: 2 }],
  });
  t.equal(report.flows.length, 1);
  t.match(junit, /failures="0"[\s\S]*<flakyFailure type="MATCH_FAILED"[^>]*>attempt 1 at flows\/visit\.js:1:/);
  t.match(zip.get('report.html')?.toString(), /Earlier attempts[\s\S]*Attempt 1/);

  const failed = await service.job({ ...job, args: { wanted: 'never' }, retries: 1 });
  t.match(failed, { state: 'failed', attempt: 2, error: { code: 'FLOW_FAILED' } });
  t.match((await artifacts(service, failed.id)).junit, /failures="1"[\s\S]*<failure[\s\S]*<rerunFailure/);
  t.equal(visits.length, 4);
});

t.test('a browser that is lost costs an attempt, and DELETE ends a job between two of them for good', async (t) => {
  const service = await startTestService(t, { maxSessions: 1 });
  const { url, visits } = await openVisits(t);
  const flow = `() => { agent.go('${url}'); if (agent.text('#n') === '1') agent.wait(60000) }`;
  writeFlow(service.home, flow);
  const job = { prompt: 'x', maxIterations: 0, flowFiles: ['visit.js'], retries: 1 };
  const { id } = (await service.call('POST', '/api/jobs', job)).body;
  await eventually('the page is open', () => visits.length === 1);
  killBrowser(id);
  await service.seen(id, 'SessionEnded');
  t.match((await service.call('GET', `/api/jobs/${id}`)).body, { state: 'completed', attempt: 2 });
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  t.match(body, /"AttemptFailed"[\s\S]*WORKER_LOST/);

  writeFlow(service.home, `() => { throw new Error('never') }`);
  const endless = (await service.call('POST', '/api/jobs', { ...job, retries: 10 })).body;
  await service.seen(endless.id, 'AttemptFailed');
  t.match(await service.call('DELETE', `/api/sessions/${endless.id}`), { body: { status: 'stopped' } });
  t.match((await service.call('GET', `/api/jobs/${endless.id}`)).body, { state: 'stopped', endReason: 'deleted' });
  await eventually('its place is free', async () => {
    return (await service.call('GET', '/api/health')).body.capacity.running === 0;
  });
});

t.test(
  'a flow that a kill of the service cut begins again where its job says retries, and not otherwise',
  async (t) => {
    const { url, visits } = await openVisits(t);
    const home = makeHome(t);
    writeFlow(home, `() => { agent.go('${url}'); if (Number(agent.text('#n')) < 3) agent.wait(60000) }`);
    const job = { prompt: 'x', maxIterations: 0, flowFiles: ['visit.js'] };
    const first = await startServiceProcess(t, home);
    const before = client(first.url);
    const ids: string[] = [];
    for (const retries of [0, 1]) ids.push((await before.call('POST', '/api/jobs', { ...job, retries })).body.id);
    await eventually('both are in their flow', () => visits.length === 2);
    await first.end('SIGKILL');

    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    await after.seen(ids[1] ?? '', 'SessionEnded');
    const records = await Promise.all(ids.map(async (id) => (await after.call('GET', `/api/jobs/${id}`)).body));
    t.match(records, [
      { state: 'failed', attempt: 1, error: { code: 'INTERRUPTED' } },
      { state: 'completed', attempt: 2 },
    ]);
    t.equal(visits.length, 3);
    t.same(await second.end('SIGTERM'), { code: 0, signal: null });
  },
);

t.test(
  'a job that is with its model when the service stops goes on in a fresh browser, which the model is told',
  async (t) => {
    const { url, visits } = await openVisits(t);
    const model = await startModelServer(t, ({ body }: ModelRequest): Turn => {
      const last = body.messages.at(-1)?.content ?? '';
      if (last.includes('the browser is a new one')) return done(true, 'Was there');
      if (body.messages.length === 2) return evaluate(`agent.go('${url}')`);
      return evaluate('agent.wait(60000)');
    });
    const home = makeHome(t, { models: ['scripted/m'], providers: { scripted: { baseURL: model.baseURL } } });
    const first = await startServiceProcess(t, home);
    const { id } = (await client(first.url).call('POST', '/api/jobs', { prompt: 'Visit' })).body;
    await eventually('the model waits', () => model.requests.length === 2);
    await endedBySecondSignal(first);

    const second = await startServiceProcess(t, home);
    const after = client(second.url);
    await after.seen(id, 'SessionEnded');
    t.match((await after.call('GET', `/api/jobs/${id}`)).body, {
      state: 'completed',
      summary: 'Was there',
      attempt: 1,
    });
    t.equal(visits.length, 1, 'nothing was done twice');
    t.match(model.requests.at(-1)?.body.messages.at(-2)?.content, /How far it came is not known/);
    t.same(await second.end('SIGTERM'), { code: 0, signal: null });
  },
);

/** The second signal cuts the time that jobs have. */
async function endedBySecondSignal(service: ServiceProcess): Promise<void> {
  service.child.kill('SIGTERM');
  await eventually('it says so', () => /stop/i.test(service.output()));
  await service.end('SIGTERM');
}
