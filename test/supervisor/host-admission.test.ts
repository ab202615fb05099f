import t from 'tap';
import { systemClock } from '#troupe/base/clock.js';
import { HostLimits } from '#troupe/cluster/host-limits.js';
import { Admission } from '#troupe/supervisor/jobs/admission.js';
import { hostsOf } from '#troupe/supervisor/jobs/hosts-of-job.js';
import type { Slot } from '#troupe/supervisor/sessions/session-lifecycle.js';
import { seededRandom } from '../chaos/seeded-random.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const SCHEDULES = 300;
const STEPS = 120;
const MAX_SESSIONS = 5;
const LIMITS = { 'one.test': 1, 'two.test': 2, '*.wide.test': 3 };
const KINDS = [
  '',
  '',
  'one.test',
  'two.test',
  'a.wide.test',
  'b.wide.test',
  'one.test two.test',
  'two.test a.wide.test',
];

/** An admission with jobs that run until they are ended. */
function service(limits: { readonly [host: string]: number }, maxSessions = MAX_SESSIONS) {
  const admission = new Admission({ maxSessions, maxQueue: 1_000, clock: systemClock, hosts: new HostLimits(limits) });
  const waiting = new Map<string, string>();
  const running = new Map<string, { readonly hosts: string; readonly slot: Slot }>();
  const order: string[] = [];
  const admit = (id: string, hosts: string) => (slot: Slot) => {
    waiting.delete(id);
    running.set(id, { hosts, slot });
    order.push(id);
  };
  return {
    admission,
    waiting,
    running,
    order,
    queue(id: string, hosts = '', caller = 'one') {
      waiting.set(id, hosts);
      admission.queue(caller, id, admit(id, hosts), hosts);
    },
    end(id: string) {
      const { slot } = running.get(id) ?? {};
      running.delete(id);
      slot?.release();
    },
    on: (part: string) => [...running.values()].filter(({ hosts }) => hosts.includes(part)).length,
  };
}

t.test('A job that must wait for its host blocks neither others of its caller nor other callers', async (t) => {
  const { queue, order, end, admission } = service({ 'staging.test': 1 });
  for (const id of ['s1', 's2', 's3']) queue(id, 'staging.test');
  queue('free');
  queue('others', 'staging.test', 'two');
  queue('others free', '', 'two');
  t.same(order, ['s1', 'free', 'others free']);
  t.equal(admission.position('s2'), 2, 'as the queue would be without the limit');
  end('s1');
  t.equal(order.at(-1), 'others', 'the other caller had less');
  end('others');
  t.equal(order.at(-1), 's2');
});

t.test('A caller that waits for a host keeps its share', async (t) => {
  const { queue, order, end } = service({ 'staging.test': 2 });
  for (let n = 1; n <= 8; n += 1) queue(`a${n}`, 'staging.test', 'a');
  for (let n = 1; n <= 3; n += 1) queue(`b${n}`, 'staging.test', 'b');
  for (let n = 0; n < 6; n += 1) end(order[n] ?? '');
  t.same(order.slice(2), ['b1', 'b2', 'a3', 'b3', 'a4', 'a5'], 'who came later has its turns first');
});

t.test('A session that runs already is counted, and a second release frees one place', async (t) => {
  const { admission, queue, order } = service({ 'staging.test': 1 });
  const recovered = admission.acquire('one', 'staging.test');
  queue('next', 'staging.test');
  queue('after', 'staging.test');
  t.same(order, []);
  recovered.release();
  recovered.release();
  t.same(order, ['next']);
});

t.test('A job with two hosts gets its turn although others keep both busy', async (t) => {
  const { queue, end, order, running } = service({ a: 2, b: 2 }, 10);
  for (const id of ['a1', 'a2']) queue(id, 'a');
  for (const id of ['b1', 'b2']) queue(id, 'b');
  queue('both', 'a b');
  for (let n = 0; n < 6; n += 1) {
    queue(`a more ${n}`, 'a');
    queue(`b more ${n}`, 'b');
  }
  for (const id of ['a1', 'b1']) end(id);
  t.equal(order.at(-1), 'both');
  t.ok(running.has('a2') && running.has('b2'));
});

t.test(`No host ever has more jobs than its limit, and no place is idle that a job could have`, async (t) => {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
    const { admission, queue, end, on, waiting, running, order } = service(LIMITS);
    let queued = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const what = random();
      if (what < 0.55) queue(`j${++queued}`, pick(KINDS), pick(['a', 'b', 'c']));
      else if (what < 0.9) end(pick([...running.keys()]) ?? '');
      else {
        const gone = pick([...waiting.keys()]);
        if (gone !== undefined && admission.leaveQueue(gone)) waiting.delete(gone);
      }
      const busy = { 'one.test': on('one.test'), 'two.test': on('two.test'), '*.wide.test': on('.wide.test') };
      const within = busy['one.test'] <= 1 && busy['two.test'] <= 2 && busy['*.wide.test'] <= 3;
      if (!within || running.size > MAX_SESSIONS) t.fail(`seed ${seed}, step ${step}: ${JSON.stringify(busy)}`);
      const idle = running.size < MAX_SESSIONS && [...waiting.values()].includes('');
      if (idle) t.fail(`seed ${seed}, step ${step}: a job without a host waits although there is room`);
    }
    while (running.size > 0) end([...running.keys()][0] ?? '');
    if (waiting.size > 0) t.fail(`seed ${seed}: ${waiting.size} jobs were left behind`);
    t.equal(new Set(order).size, order.length, `seed ${seed}`);
  }
});

t.test('The hosts of a job are those that it names, or those of the URLs among its arguments', async (t) => {
  t.equal(
    hostsOf({ args: { url: 'https://Staging.Example.com:8443/shop?x=1', n: 1, text: 'see https://no.test' } }),
    'staging.example.com',
  );
  t.equal(hostsOf({ args: { a: 'http://b.test', b: 'http://a.test/', c: 'ftp://c.test' } }), 'a.test b.test');
  t.equal(hostsOf({ hosts: ['API.example.com'], args: { url: 'https://staging.example.com' } }), 'api.example.com');
  t.equal(hostsOf({ hosts: [], args: { url: 'https://staging.example.com' } }), '', 'an empty list says: none');
  t.equal(hostsOf({ args: { url: 'http://[::1]:3000' } }), hostsOf({ hosts: ['[0:0:0:0:0:0:0:1]'] }));
  t.equal(hostsOf({}), '');
});
