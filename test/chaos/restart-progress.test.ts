import { setTimeout as pass } from 'node:timers/promises';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { runningBrowsers } from '../support/browsers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer } from '../support/model-server.js';
import { SEED } from '../support/seed.js';
import { client, makeHome } from '../support/service.js';
import { spawnService } from '../support/service-process.js';
import { seededRandom } from './seeded-random.js';

guardLeaks(t);

/** `npm run chaos -- --kind jobs` kills it more often. */
const jobs = process.env.TROUPE_CHAOS_JOBS;
const kills = jobs === undefined ? 1 : Math.ceil(Number(jobs) / 3);
const seed = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);
/** A kill comes after so many steps of the life that it ends, and so much later. */
const MOST_STEPS = 3;
const LONGEST_MS = 400;

t.test(
  'a job of a model that is cut by every start of the service goes on at each, and does nothing twice',
  async (t) => {
    const random = seededRandom(seed);
    /** How often each step was done, by the request of the model that wanted it. */
    const steps = new Map<string, number>();
    const site = await openSite(t);
    site.set('/step', (request, response) => {
      const wanted = new URL(request.url ?? '/', site.origin).searchParams.get('n') ?? '';
      steps.set(wanted, (steps.get(wanted) ?? 0) + 1);
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<title>Step ${wanted}</title><p>${steps.size} done`);
    });
    let isOver = false;
    const said: number[] = [];
    const model = await startModelServer(t, ({ body }: ModelRequest, index) => {
      said.push(body.messages.filter(({ role }) => role === 'assistant').length);
      return isOver ? done(true, 'All of it is done') : evaluate(`agent.go('${site.origin}/step?n=${index}')`);
    });
    const home = makeHome(t, { models: ['scripted/m'], providers: { scripted: { baseURL: model.baseURL } } });
    let service = spawnService(home);
    t.teardown(() => service.end('SIGKILL'));
    const job = { prompt: 'Go on.', maxIterations: 1_000 };
    const { id } = (await client(await service.listening).call('POST', '/api/jobs', job)).body;
    for (let kill = 0; kill < kills; kill += 1) {
      const enough = steps.size + 1 + Math.floor(random() * MOST_STEPS);
      await eventually('it goes on', async () => steps.size >= enough, 60_000);
      await pass(random() * LONGEST_MS);
      await service.end('SIGKILL');
      service = spawnService(home);
    }
    isOver = true;
    const { call } = client(await service.listening);
    await call('GET', `/api/sessions/${id}/events`);
    const { body: record } = await call('GET', `/api/jobs/${id}`);
    t.match(record, { state: 'completed', attempt: 1, summary: 'All of it is done' }, `seed ${seed}`);
    t.same(
      [...steps.values()].filter((times) => times !== 1),
      [],
      `nothing is done twice, with seed ${seed}`,
    );
    t.same(
      said,
      [...said].sort((a, b) => a - b),
      'what was said is never lost',
    );
    t.ok(record.iterations >= kills, `${record.iterations} answers and ${kills} kills`);
    t.same(await service.end('SIGTERM'), { code: 0, signal: null });
    t.same(runningBrowsers(), []);
  },
);
