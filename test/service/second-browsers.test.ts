import t from 'tap';
import { openBoard, writeFlow } from '../support/board.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

t.test('A flow of two people has two browsers, and one transcript, which names whose step each is', async (t) => {
  const board = await openBoard(t);
  const service = await startTestService(t, { maxSessions: 2 });
  const flow = writeFlow(
    service,
    'board.js',
    `agent.go('${board.origin}/?name=ada');
     const ben = agent.session('ben');
     ben.go('${board.origin}/?name=ben');
     agent.act('{input}Message', 'input', 'Tea?');
     agent.act('{button}Send', 'click');
     ben.go('${board.origin}/');
     ben.expect('{li}').toHaveText('ada: Tea?');
     ben.expect(ben).toHaveTitle('Board of ben');
     agent.expect(agent).toHaveTitle('Board of ada');
     match(ben.look().elements.length > 2, true);
     ben.act('{input}Message', 'input', '{{secret}}');
     ben.act('{button}Send', 'click');
     match(agent.session('ben') === ben, true);
     ben.mock('**/api/asked', {json: {n: 1}});
     match(ben.page("fetch('/api/asked').then(r => r.json())"), {n: 1});
     match(ben.requests('**/api/asked'), '#[1]');
     match(agent.requests('**/api/asked'), '#[0]');
     match(ben.page("[innerWidth, navigator.language, matchMedia('(prefers-color-scheme: dark)').matches]"), [900, 'de-DE', true]);
     match(ben.page("navigator.permissions.query({name: 'geolocation'}).then(({state}) => state)"), 'granted');
     ben.act('{a}Save', 'click');
     agent.until(() => ben.downloads().length === 1);
     match(agent.downloads(), []);
     ({ada: agent.text('{li:1}'), ben: ben.text('{li:2}')})`,
  );
  const job = await service.job({
    flowFiles: [flow],
    secrets: { secret: 'milk-and-honey' },
    viewport: { width: 900, height: 700 },
    locale: 'de-DE',
    colorScheme: 'dark',
    permissions: ['geolocation'],
    headers: { 'x-flow': 'two' },
    forward: [board.port],
  });
  t.match(job, { state: 'completed' }, JSON.stringify(job.error));
  t.same(board.messages, ['ada: Tea?', 'ben: milk-and-honey']);
  t.equal(board.asked(), 0);
  t.ok(board.flows.every((flow) => flow === 'two'));
  await eventually(
    'no slot is taken',
    async () => (await service.call('GET', '/api/health')).body.capacity.running === 0,
  );

  const { body: report } = await service.call('GET', `/api/sessions/${job.id}/report.json`);
  const steps: { index: number; js: string; session?: string; screenshot: string | null }[] = report.steps;
  t.same(
    steps.map(({ index }) => index),
    steps.map((_, at) => at + 1),
    'the steps of both are numbered together',
  );
  const named = steps.filter(({ session }) => session === 'ben').map(({ js }) => js);
  t.ok(named.includes(`agent.session("ben").act("{input}Message", "input", "{{secret}}")`), named.join('\n'));
  t.ok(
    named.every((js) => js.startsWith('agent.session("ben").')),
    named.join('\n'),
  );
  t.ok(steps.some(({ js, session }) => js === 'agent.session("ben")' && session === undefined));
  t.ok(
    named.some((js) => js.includes('.expect("{li}")')),
    named.join('\n'),
  );
  const zip = await readZip(`${service.url}/api/sessions/${job.id}/download`);
  t.equal(zip.get('downloads/ben/board.txt')?.toString(), 'board');
  for (const { screenshot, js } of steps) {
    if (screenshot !== null) t.ok(zip.has(`screenshots/${screenshot}`), js);
  }
  t.ok(steps.filter(({ session, screenshot }) => session === 'ben' && screenshot !== null).length > 2);
  for (const [name, content] of zip) t.notOk(content.includes('milk-and-honey'), name);
  t.match(zip.get('network.har')?.toString(), /name=ben/, 'what its pages asked for is in the archive');
});

t.test('A run with a service of its own has slots for the browsers of its flows', async (t) => {
  const folder = t.testdir({
    flows: {
      'two.js': `() => { agent.go('about:blank'); agent.session('ben').go('about:blank'); }`,
      'one.js': '() => 1',
    },
  });
  const run = await runTroupe(makeHome(t), 'run', `${folder}/flows/*.js`, '--own', '--parallel', '1');
  t.match(run, { code: 0, output: '2 passed' });
});
