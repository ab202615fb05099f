import t from 'tap';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { openAgent, openBrowser } from '../support/agent-fixture.js';
import { openCorpus } from '../support/corpus.js';
import { guardLeaks } from '../support/leaks.js';
import { libraryNames, openLibraries } from '../support/library-corpus.js';
import { installLibraries } from '../support/library-install.js';
import { hasAllCases, sampled } from '../support/sampled.js';

guardLeaks(t);

const isProof = hasAllCases;
/** Of one page: one control is as another in a long table. */
const MAX_CONTROLS = 24;
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease, { actMs: 1_500 });

interface Page {
  readonly name: string;
  readonly url: string;
}

/** For a look at some libraries alone. */
const only = process.env.TROUPE_LIBRARIES?.split(',');
const corpus: readonly Page[] = await openCorpus(t);
// The libraries are a part of the whole alone, as their sample is judged elsewhere.
const missing = isProof ? await installLibraries() : false;
const libraries = isProof && missing === false ? await openLibraries(t, only ?? libraryNames()) : [];
const pages: readonly Page[] = [
  ...(only === undefined ? sampled(corpus, { name: 'verified', count: 4 }) : []),
  ...libraries.map((page) => ({ name: page.name, url: page.url(false) })),
];

/** Letters, digits and signs in their order: what a field may not change. */
const signs = (text: unknown): string => String(text).replace(/\s/g, '').toLowerCase();

type Task = readonly [action: string, value: string | null];

/** What is asked of a control, the likeliest first; none where it holds nothing. */
function tasksOf({ actions, options, value }: ElementDescriptor): readonly Task[] {
  if (actions.includes('select')) {
    const other = options?.find((option) => option !== value && option !== '');
    return other === undefined ? [] : [['select', other]];
  }
  if (actions.includes('check')) return [['check', null]];
  if (actions.includes('uncheck')) return [['uncheck', null]];
  if (!actions.includes('input')) return [];
  return [
    ['input', 'Zq3'],
    ['input', '3'],
  ];
}

/** What is wrong with what a control shows after an action without an error; null: nothing. */
async function wrongAfter(
  before: readonly ElementDescriptor[],
  { locator, role, name }: ElementDescriptor,
  [action, value]: Task,
  answer: { readonly value?: string | null },
): Promise<string | null> {
  // The page has taken it and emptied the field, or taken the field away, and the answer says so.
  if (answer.value === null || answer.value === '') return null;
  const shown = action === 'check' || action === 'uncheck' ? null : await call('value', locator).catch(() => null);
  const own = await call('text', locator).catch(() => '');
  const { elements: after } = await look({ full: true });
  if (action === 'check' || action === 'uncheck') {
    const alike = (one: ElementDescriptor): boolean => one.role === role && one.name === name;
    const checked = (all: readonly ElementDescriptor[]): number => all.filter((one) => one.checked === true).length;
    const now = after.find((one) => one.locator === locator);
    // Of one whose name says its state, the number of those that are checked tells.
    const holds =
      after.filter(alike).length === before.filter(alike).length && now !== undefined
        ? (now.checked ?? false) === (action === 'check')
        : checked(after) !== checked(before);
    return holds ? null : `${action}, and it shows ${String(now?.checked)}`;
  }
  const sought = signs(value);
  if (typeof shown === 'string' && /^\u2022+$/.test(shown)) return null;
  if (action === 'input' && typeof shown === 'string' && shown !== '') {
    return signs(shown) === sought ? null : `input ${JSON.stringify(value)}, and it shows ${JSON.stringify(shown)}`;
  }
  // What draws its text, or is called otherwise now, shows it somewhere.
  const places = [shown, own, await call('text'), ...after.flatMap((one) => [one.value, one.name])];
  const holds = places.some((text) => text !== undefined && text !== null && signs(text).includes(sought));
  return holds ? null : `${action} ${JSON.stringify(value)}, and it shows ${JSON.stringify(shown)}`;
}

/** The first of the tasks that the control takes, and the answer; or why it takes none. */
async function firstTaken(locator: string, tasks: readonly Task[]) {
  let refusal = '';
  for (const task of tasks) {
    try {
      const answer = (await call('act', locator, ...task)) as { readonly value?: string | null };
      return { kind: 'taken', task, answer } as const;
    } catch (error) {
      refusal = `${task.join(' ')}: ${String(error)}`;
    }
  }
  return { kind: 'refused', refusal } as const;
}

t.test('after input, select and check a control holds what was asked, or there is an error', async (t) => {
  let opened = 0;
  let verified = 0;
  const refused: string[] = [];
  for (const page of pages) {
    const open = async (): Promise<readonly ElementDescriptor[]> => {
      await call('go', `${page.url}?${++opened}`);
      await call('wait', 'idle', { timeout: 2_000 }).catch(() => undefined);
      return (await look({ full: true })).elements;
    };
    const controls = (await open()).filter((one) => one.disabled !== true && tasksOf(one).length > 0);
    const wrong: string[] = [];
    for (const { locator } of controls.slice(0, MAX_CONTROLS)) {
      const before = await open();
      const control = before.find((one) => one.locator === locator);
      if (control === undefined) continue;
      const taken = await firstTaken(locator, tasksOf(control));
      if (taken.kind === 'refused') {
        refused.push(`${page.name} | ${locator} ${taken.refusal}`);
        continue;
      }
      const fault = await wrongAfter(before, control, taken.task, taken.answer);
      if (fault === null) verified += 1;
      else wrong.push(`${locator} ${fault}`);
    }
    t.same(wrong, [], page.name);
  }
  t.comment(`${verified} verified on ${pages.length} pages, ${refused.length} refused by an error`);
  for (const one of refused) t.comment(one);
});

t.end();
