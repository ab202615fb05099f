import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { type AgentFixture, openAgent, openBrowser } from '../support/agent-fixture.js';
import { type CorpusPage, openCorpus } from '../support/corpus.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

/** Much of the time is waiting: for components to draw themselves, and for what is covered to become free. */
const BROWSERS = 3;

const agents = await Promise.all(
  Array.from({ length: BROWSERS }, async () => {
    const lease = await openBrowser(t);
    writeFileSync(join(lease.endpoint.uploadsDir, 'corpus.txt'), 'hello');
    return openAgent(t, lease);
  }),
);
const corpus = await openCorpus(t);
const pages = sampled(corpus, { name: 'corpus', count: 32 });

/** Each page once, by whichever agent is free. */
async function everyPage<T>(visitOf: (page: CorpusPage, agent: AgentFixture) => Promise<T>): Promise<readonly T[]> {
  const left = [...pages];
  const done: T[] = [];
  const work = async (agent: AgentFixture): Promise<void> => {
    for (let page = left.shift(); page !== undefined; page = left.shift()) done.push(await visitOf(page, agent));
  };
  await Promise.all(agents.map(work));
  return done;
}

/** Notes what real input reaches the page. */
const RECORDER = `globalThis.heard = [];
for (const type of ['click', 'input', 'change', 'keydown', 'dragstart', 'pointerdown'])
  addEventListener(type, (event) => heard.push(type), true); 0`;

/** What is expected and not found, and what is found and not expected. A name stands for as many as there are of it. */
function compare(expected: readonly string[], found: readonly ElementDescriptor[]) {
  const left = [...found];
  const missing = expected.filter((line) => {
    const anyRole = line.startsWith('{*}');
    const name = line.slice(3);
    const at = left.findIndex((element) => (anyRole ? element.name === name : element.locator === line));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return { missing, extra: left.map(({ locator }) => locator) };
}

let opened = 0;

async function open(
  { url, expected }: CorpusPage,
  { call, look }: AgentFixture,
): Promise<readonly ElementDescriptor[]> {
  // An address of its own each time: one that differs by its fragment alone would not be loaded again.
  await call('go', `${url}?${++opened}`);
  // Components draw themselves when their script has come.
  if (expected.at(-1)?.startsWith('{*}')) await call('wait', expected.at(-1));
  return (await look({ full: true })).elements;
}

/** What a person does with a control of that kind. */
function natural({ role, actions, options, name }: ElementDescriptor): readonly [action: string, value?: string] {
  const [action = 'click'] = actions;
  if (action === 'select') return ['select', options?.at(-1) ?? ''];
  if (action === 'upload') return ['upload', 'corpus.txt'];
  if (action !== 'input') return ['click'];
  return ['input', TYPED[name] ?? (role === 'spinbutton' ? '3' : 'x')];
}

const TYPED: { readonly [name: string]: string } = {
  Mail: 'a@b.test',
  Number: '7',
  Guests: '4',
  Range: '20',
  Volume: '20',
  'Over the art': '30',
  Date: '2030-01-02',
  Time: '12:30',
  When: '2030-01-02T12:30',
  Month: '2030-02',
  Week: '2030-W05',
  Colour: '#102030',
  Year: '2031',
  Arrival: '01/02/2030',
};

/** What came of one page. */
interface Visit {
  readonly page: CorpusPage;
  readonly listed: number;
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly operated: number;
  /** Controls that could not be operated, and why. */
  readonly faults: readonly string[];
  /** Events of real input that the page heard. */
  readonly heard: number;
}

/** Looks at a page, and operates what was found through its own locator. */
async function visit(page: CorpusPage, agent: AgentFixture): Promise<Visit> {
  const { call, callWithin } = agent;
  const elements = await open(page, agent);
  await call('page', RECORDER);
  const usable = elements.filter(({ disabled }) => disabled !== true);
  // Of a calendar's days the first and the last: one is as another.
  const tried = usable.length > 25 ? [...usable.slice(0, 6), ...usable.slice(-4)] : usable;
  const faults: string[] = [];
  for (const element of tried) {
    const [action, value] = natural(element);
    const act = async (ms: number): Promise<string | null> => {
      try {
        await callWithin({ ms }, 'act', element.locator, action, value);
        return null;
      } catch (error) {
        return String(error);
      }
    };
    if ((await act(700)) !== null) {
      // What came before may have closed or covered it: once more on the page as it was.
      await open(page, agent);
      await call('page', RECORDER);
      const failed = await act(8_000);
      if (failed !== null) faults.push(`${element.locator} ${action}: ${failed}`);
    }
  }
  const heard = (await call('page', 'globalThis.heard?.length ?? 1')) as number;
  return { page, listed: elements.length, ...compare(page.expected, elements), operated: tried.length, faults, heard };
}

const visits = await everyPage(visit);
const sum = (count: (visit: Visit) => number): number => visits.reduce((total, one) => total + count(one), 0);

t.test('look finds every control of the corpus, and next to nothing else', async (t) => {
  t.ok(corpus.length >= 60, `${corpus.length} pages`);
  t.equal(visits.length, pages.length);
  for (const { page, missing, extra } of visits) {
    t.same(missing, [], `${page.name}: all found`);
    if (extra.length > 0) t.comment(`${page.name}: ${extra.join(' ')}`);
  }
  const [sought, listed, extra] = [
    sum(({ page }) => page.expected.length),
    sum((one) => one.listed),
    sum((one) => one.extra.length),
  ];
  t.comment(`${sought} controls on ${visits.length} pages; ${listed} listed, ${extra} of them superfluous`);
  const precision = 1 - extra / listed;
  t.ok(precision >= 0.98, `precision is ${(precision * 100).toFixed(1)} %`);
});

t.test('Every control of the corpus is operated through its own locator', async (t) => {
  for (const { page, faults, heard } of visits) {
    t.same(faults, [], page.name);
    // What happens inside a frame, and in a film's own controls, is not heard outside.
    if (!/^(frame|media)/.test(page.name)) t.ok(heard > 0, `${page.name}: it was real input`);
  }
  t.comment(`${sum(({ operated }) => operated)} controls operated`);
});

t.end();
