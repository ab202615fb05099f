import { tmpdir } from 'node:os';
import t from 'tap';
import { containerOf, containersUnder, docker, runInside, skipWithoutDocker } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService, type TestService } from '../support/service.js';

guardLeaks(t);
const options = { skip: skipWithoutDocker };

/** What may happen to a worker, and what its session is told. */
interface Mishap {
  readonly what: string;
  act(container: string, id: string, service: TestService): unknown;
  readonly code: 'WORKER_LOST';
  readonly says: RegExp;
}

const EVAL_TIMEOUT_SECONDS = 3;

/** The processes inside whose command line has these words, by pid. */
const pidsWith = (words: string) => `grep -l -a -e ${words} /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -n`;

const MISHAPS: readonly Mishap[] = [
  {
    what: 'its container is killed',
    act: (container) => docker('kill', container),
    code: 'WORKER_LOST',
    says: /it was killed/,
  },
  {
    what: 'its browser is killed',
    // Behind the init and the script that it runs, both of which name it.
    act: (container) => runInside(container, `kill -9 $(${pidsWith('remote-debugging-port')} | sed -n 3p)`),
    code: 'WORKER_LOST',
    says: /it was killed/,
  },
  {
    what: 'the relay of its DevTools is killed',
    act: (container) => runInside(container, `kill -9 $(${pidsWith('UNIX-LISTEN')})`),
    code: 'WORKER_LOST',
    says: /connection closed/,
  },
  {
    what: 'its page eats all memory',
    act: (_container, id, service) =>
      service.run(id, 'agent.page("const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(7))")'),
    code: 'WORKER_LOST',
    says: /memory limit of 512 MB/,
  },
];

t.test('A worker that is lost ends its session alone, with its code and cause', options, async (t) => {
  const settings = {
    driver: 'docker',
    warmSessions: 0,
    evalTimeout: EVAL_TIMEOUT_SECONDS,
    worker: { memory: 512 },
  };
  const service = await startTestService(t, settings);
  const stateOf = async (id: string) => (await service.call('GET', `/api/sessions/${id}`)).body;
  const neighbour = await service.live();
  for (const { what, act, code, says } of MISHAPS) {
    const { id } = await service.live();
    const container = await containerOf(id);
    const begunAt = performance.now();
    const done = act(container, id, service);
    await eventually(`${what}: the session has failed`, async () => (await stateOf(id)).state === 'failed');
    const took = (performance.now() - begunAt) / 1000;
    await done;
    const { error, ...record } = await stateOf(id);
    t.match({ ...record, error }, { state: 'failed', endReason: 'lost', error: { code, error: says } }, what);
    t.comment(`${what}: ${error.error} (${took.toFixed(2)} s)`);
    await eventually(`${what}: nothing is left`, async () => (await containerOf(id)) === '');
  }
  t.match(await service.run(neighbour.id, '6 * 7'), { status: 200, body: 42 }, 'its neighbour has felt nothing');

  const container = await containerOf(neighbour.id);
  await runInside(
    container,
    'dd if=/dev/zero of=/tmp/full bs=1M count=4000; dd if=/dev/zero of=/home/worker/full bs=1M count=4000',
  );
  t.match(
    await service.run(neighbour.id, `agent.go('data:text/html,<title>full</title>').title`),
    { body: 'full' },
    'a full disk ends nothing',
  );

  await docker('pause', container);
  // Calls of a page that does not answer end 100 ms before their script, which may go on without it.
  t.match(await service.run(neighbour.id, 'agent.page("1")'), { status: 422, body: { code: 'WAIT_TIMEOUT' } });
  const stubborn = 'for (;;) try { agent.page("1") } catch {}';
  t.match(await service.run(neighbour.id, stubborn), { status: 504, body: { code: 'EVAL_TIMEOUT' } });
  await eventually('it is lost', async () => (await stateOf(neighbour.id)).state === 'failed');
  t.match(await stateOf(neighbour.id), { error: { code: 'WORKER_LOST', error: /paused/ } });
  await eventually('nothing is left', async () => (await containersUnder(tmpdir())).length === 0);
});

t.test('Creates beyond the cap are told CAPACITY, and nothing stays stuck', options, async (t) => {
  const service = await startTestService(t, { driver: 'docker', warmSessions: 0, maxSessions: 2, createTimeout: 20 });
  const storm = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.call('POST', '/api/sessions', {})));
    return {
      created: answers.filter(({ status }) => status === 201).map(({ body }) => String(body.id)),
      refused: answers.filter(({ status }) => status !== 201),
    };
  };
  const { created, refused } = await storm();
  t.equal(created.length, 2);
  for (const { status, body, headers } of refused) {
    t.match(
      { status, code: body.code, after: headers.get('retry-after') },
      { status: 429, code: 'CAPACITY', after: /\d/ },
    );
  }
  for (let round = 1; ; round += 1) {
    await Promise.all(created.map((id) => service.call('DELETE', `/api/sessions/${id}`)));
    await eventually(
      'every place is free',
      async () => (await service.call('GET', '/api/health')).body.capacity.running === 0,
    );
    t.same(await containersUnder(tmpdir()), [], 'no container is left');
    if (round === 2) return;
    created.splice(0, 2, ...(await Promise.all([service.live(), service.live()])).map(({ id }) => id));
  }
});
