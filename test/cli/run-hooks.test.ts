import t from 'tap';
import { planRun } from '#troupe/cli/run/plan/plan-run.js';
import { planHooks, runWithHooks } from '#troupe/cli/run/plan/run-hooks.js';
import { readRunOptions } from '#troupe/cli/run/run-options.js';
import type { JobRequest, SessionRecord } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const TEXTS = {
  '_setup.js': '// Makes a user.',
  '_teardown.ts': '// Removes the user.',
  'home.js': '',
  'shop/_setup.js': '',
  'shop/_teardown.js': '',
  'shop/buy.js': '',
  'shop/pay.js': '',
  'mail/send.js': '',
  'unused/_setup.js': '',
};
const NAMED = ['home.js', 'shop/buy.js', 'shop/pay.js', 'mail/send.js'];

/** Runs a plan without a service. `says` is how a flow ends: the value of a setup, or false if it fails. */
async function run(words: readonly string[], says: { readonly [name: string]: unknown } = {}, named = NAMED) {
  const options = readRunOptions(['x', ...words]);
  const files = { root: '/w/flows', named, texts: TEXTS };
  const plan = planHooks(planRun(options, files, {}, null), files, options, {});
  const rounds: string[][] = [];
  const asked = new Map<string, JobRequest>();
  const kept: string[] = [];
  const nameOf = (index: number) => plan.flows[index]?.name ?? '';
  const ended = runWithHooks(plan, {
    run: async (indexes, requestOf) => {
      rounds.push(indexes.map(nameOf));
      for (const index of indexes) asked.set(nameOf(index), requestOf(index));
      const thrown = indexes.map((index) => says[nameOf(index)]).find((one) => one instanceof Error);
      if (thrown !== undefined) throw thrown;
      return new Map(
        indexes.map((index) => {
          const status = says[nameOf(index)] === false ? 'failed' : 'completed';
          return [index, { name: nameOf(index), status } as SessionRecord];
        }),
      );
    },
    kept: (index, setup) => kept.push(`${nameOf(index)}: ${nameOf(setup)}`),
    setupValue: async ({ name }) => says[name ?? ''] ?? null,
  });
  const error = await ended.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { plan, rounds, asked, kept, error };
}

t.test('Setups run once, outer folders first, and teardowns at the end, inner folders first', async (t) => {
  const { rounds, asked } = await run(['--args', 'n=1'], { _setup: { user: 7 }, 'shop/_setup': 'cart' });
  t.same(rounds, [
    ['_setup'],
    ['shop/_setup'],
    ['home', 'shop/buy', 'shop/pay', 'mail/send'],
    ['shop/_teardown'],
    ['_teardown'],
  ]);
  const setup = (name: string) => asked.get(name)?.args;
  t.same(setup('_setup'), { n: '1' });
  t.same(setup('shop/_setup'), { n: '1', setup: { user: 7 } });
  t.same(setup('home'), { n: '1', setup: { user: 7 } });
  t.same(setup('shop/buy'), { n: '1', setup: 'cart' });
  t.same(setup('mail/send'), { n: '1', setup: { user: 7 } });
  t.same(setup('shop/_teardown'), { n: '1', setup: 'cart' });
  t.same(setup('_teardown'), { n: '1', setup: { user: 7 } });
  t.match(asked.get('_setup'), { prompt: 'Makes a user.', maxIterations: 0, flowFiles: ['_setup.js'] });
});

t.test('A setup runs once however often its flows run, and not for flows that were not chosen', async (t) => {
  t.same((await run(['--grep', '^shop/buy', '--repeat-each', '2'])).rounds, [
    ['_setup'],
    ['shop/_setup'],
    ['shop/buy', 'shop/buy (2)'],
    ['shop/_teardown'],
    ['_teardown'],
  ]);
  t.same((await run(['--grep', 'mail'])).rounds, [['_setup'], ['mail/send'], ['_teardown']]);
  t.same((await run([], {}, ['_setup.js'])).rounds, [['_setup']], 'a setup that is named is a flow like any other');
});

t.test('A setup that fails keeps the flows of its folder from running; its teardown runs', async (t) => {
  t.same((await run([], { 'shop/_setup': false })).rounds.slice(2), [
    ['home', 'mail/send'],
    ['shop/_teardown'],
    ['_teardown'],
  ]);
  const { rounds, asked, kept } = await run([], { _setup: false });
  t.same(rounds, [['_setup'], ['_teardown']]);
  t.same(
    kept,
    ['shop/_setup', 'home', 'shop/buy', 'shop/pay', 'mail/send'].map((name) => `${name}: _setup`),
    'each flow that is not run is named with the setup',
  );
  t.same(asked.get('_teardown')?.args, {});
});

t.test('A teardown runs also after an error of the run, which is reported', async (t) => {
  const broken = new Error('the service is gone');
  const { rounds, error } = await run([], { home: broken });
  t.equal(error, broken);
  t.same(rounds.slice(-2), [['shop/_teardown'], ['_teardown']]);
  const both = await run([], { home: broken, 'shop/_teardown': new Error('the service is still gone') });
  t.equal(both.error, broken, 'the first error is the cause of the others');
});

t.test('Flows start with the login state, setups without, teardowns if it was saved', async (t) => {
  const passed = await run(['--state', 'admin']);
  const state = (name: string) => passed.asked.get(name)?.state;
  t.same(['_setup', 'shop/_setup'].map(state), [undefined, undefined]);
  t.same(['home', 'shop/buy', 'shop/_teardown', '_teardown'].map(state), Array(4).fill('admin'));
  const failed = await run(['--state', 'admin'], { _setup: false });
  t.equal(failed.asked.get('_teardown')?.state, undefined);
  t.throws(() => readRunOptions(['x', '--state', 'a/b']), { message: /--state takes the name/ });
});
