import t from 'tap';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { openAgent, openBrowser } from '../support/agent-fixture.js';
import { openCorpus } from '../support/corpus.js';
import { guardLeaks } from '../support/leaks.js';
import { libraryNames, openLibraries } from '../support/library-corpus.js';
import { installLibraries } from '../support/library-install.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const isProof = process.env.TROUPE_PROOF === 'libraries';
/** Of one page: one control is as another in a long table. */
const MAX_CONTROLS = 24;
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease, { actMs: 1_500 });

interface Page {
  readonly name: string;
  readonly url: string;
}

const corpus: readonly Page[] = await openCorpus(t);
// The libraries are a part of the whole alone, as their sample is judged elsewhere.
const missing = isProof ? await installLibraries() : false;
const libraries = isProof && missing === false ? await openLibraries(t, libraryNames()) : [];
const pages: readonly Page[] = [
  ...sampled(corpus, { proof: 'libraries', name: 'verified', count: 4 }),
  ...libraries.map((page) => ({ name: page.name, url: page.url(false) })),
];

/** Letters, digits and signs in their order: what a field may not change. */
const signs = (text: unknown): string => String(text).replace(/\s/g, '').toLowerCase();

/** What is asked of a control; null where it holds nothing. The second time something else. */
function wanted({
  actions,
  options,
  value,
}: ElementDescriptor): readonly [action: string, value: string | null] | null {
  if (actions.includes('select')) {
    const other = options?.find((option) => option !== value && option !== '');
    return other === undefined ? null : ['select', other];
  }
  if (actions.includes('check')) return ['check', null];
  if (actions.includes('uncheck')) return ['uncheck', null];
  return actions.includes('input') ? ['input', '3'] : null;
}

/** What is wrong with what a control shows after an action without an error; null: nothing. */
async function wrongAfter(
  before: ElementDescriptor,
  [action, value]: readonly [string, string | null],
  answer: { readonly value?: string | null },
): Promise<string | null> {
  // The page has taken it and emptied the field, or taken the field away, and the answer says so.
  if (answer.value === null || answer.value === '') return null;
  if (action === 'check' || action === 'uncheck') {
    const { elements } = await look({ full: true });
    const now = elements.find(({ locator }) => locator === before.locator);
    if (now === undefined || (now.checked ?? false) === (action === 'check')) return null;
    return `${action}, and it shows ${String(now.checked)}`;
  }
  const shown = await call('value', before.locator).catch(() => null);
  const texts = [shown, await call('text', before.locator).catch(() => '')].flat().map(signs);
  const sought = signs(value);
  const holds = action === 'input' ? texts.includes(sought) : texts.some((text) => text.includes(sought));
  return holds ? null : `${action} ${JSON.stringify(value)}, and it shows ${JSON.stringify(shown)}`;
}

t.test('after input, select and check a control holds what was asked, or there is an error', async (t) => {
  let opened = 0;
  let verified = 0;
  const refused: string[] = [];
  for (const page of pages) {
    const open = async () => {
      await call('go', `${page.url}?${++opened}`);
      await call('wait', 'idle', { timeout: 2_000 }).catch(() => undefined);
      return (await look({ full: true })).elements;
    };
    const controls = (await open()).filter((one) => one.disabled !== true && wanted(one) !== null);
    const wrong: string[] = [];
    for (const { locator } of controls.slice(0, MAX_CONTROLS)) {
      const control = (await open()).find((one) => one.locator === locator);
      const task = control === undefined ? null : wanted(control);
      if (control === undefined || task === null) continue;
      try {
        const answer = (await call('act', locator, ...task)) as { value?: string | null };
        const fault = await wrongAfter(control, task, answer);
        if (fault === null) verified += 1;
        else wrong.push(`${locator} ${fault}`);
      } catch (error) {
        refused.push(`${page.name} | ${locator} ${task.join(' ')}: ${String(error)}`);
      }
    }
    t.same(wrong, [], page.name);
  }
  t.ok(verified > 0);
  t.comment(`${verified} verified on ${pages.length} pages, ${refused.length} refused by an error`);
  for (const one of refused) t.comment(one);
});

t.end();
