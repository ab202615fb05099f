import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ErrorBody, encodeError } from '#troupe/protocol/errors.js';
import { openFolder } from '../containers/driver-fixture.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const flowsDir = openFolder(t);
const writer = await openAgent(t, lease, { flowsDir, updating: true });
const reader = await openAgent(t, lease, { flowsDir, updating: false });
mkdirSync(join(flowsDir, 'shop'));

const expectIn = ({ callFrom }: typeof reader, ...args: readonly unknown[]) =>
  callFrom({ flowRun: 1, flow: 'shop/checkout' }, 'expectLook', ...args) as Promise<{ status: string }>;
async function failureOf(...args: readonly unknown[]): Promise<ErrorBody> {
  try {
    await expectIn(reader, ...args);
  } catch (error) {
    return encodeError(error);
  }
  throw new Error(`${String(args[0])} did not fail`);
}

const show = (page: string) => writer.call('go', site.set('/page', page));
const PAGE =
  '<a href="/home">Home</a><main><button>Save</button><button disabled>Delete</button><input aria-label="Name" value="Ada"></main>';
const FILE = join(flowsDir, 'shop/checkout.baselines/form.look.txt');

t.test('the structure of a page is stored as text that a person can read', async (t) => {
  await show(PAGE);
  t.equal((await expectIn(writer, 'form')).status, 'written');
  t.equal(readFileSync(FILE, 'utf8'), '{a}Home\n{button}Save\n{button}Delete disabled\n{input}Name = Ada\n');
  t.equal((await expectIn(reader, 'form')).status, 'matched');
});

t.test('a difference is shown line by line', async (t) => {
  await show(PAGE);
  await expectIn(writer, 'form');
  await show(PAGE.replace('Save', 'Store').replace('<main>', '<main><select aria-label=Size><option>S</select>'));
  const failure = await failureOf('form', { timeout: 0 });
  t.match(failure, { code: 'MATCH_FAILED', details: { baseline: 'shop/checkout.baselines/form.look.txt' } });
  t.match(
    failure.error,
    /\n {0,1}\{a\}Home\n\+\{select\}Size = S \(S\)\n-\{button\}Save\n\+\{button\}Store\n|\n-\{button\}Save\n\+\{select\}Size = S \(S\)\n\+\{button\}Store\n/,
  );
  t.match(failure.error, /--update-baselines/);
});

t.test('colors, places and what was scrolled are no part of the structure', async (t) => {
  await show(PAGE);
  await expectIn(writer, 'form');
  await show(`<style>button { color: red; margin-top: 3000px }</style>${PAGE}`);
  t.equal((await expectIn(reader, 'form')).status, 'matched');
});

t.test('a page has its time to get the structure', async (t) => {
  await show(PAGE);
  await expectIn(writer, 'form');
  await show(PAGE.replace('Save', 'Wait'));
  const matched = expectIn(reader, 'form', { timeout: 60_000 });
  await writer.call('page', 'void (document.querySelector("button").textContent = "Save")');
  t.equal((await matched).status, 'matched');
});

t.test('a part of the page is compared alone, and line ends of other systems are the same', async (t) => {
  await show(PAGE);
  await expectIn(writer, 'form', { within: 'main' });
  writeFileSync(FILE, readFileSync(FILE, 'utf8').replaceAll('\n', '\r\n'));
  await show(PAGE.replace('Home', 'Start'));
  t.equal((await expectIn(reader, 'form', { within: 'main' })).status, 'matched');
});

t.test('without a baseline the check fails and says how to store it', async (t) => {
  await show(PAGE);
  t.match(await failureOf('nothing'), {
    code: 'MATCH_FAILED',
    error: /no baseline .*nothing\.look\.txt.*--update-baselines/,
  });
  t.match(await reader.failure('expectLook', 'form'), { code: 'SCRIPT_ERROR', error: /call it in a flow/ });
  t.match(await failureOf('form', { mask: 'p' }), { code: 'SCRIPT_ERROR', error: /no option "mask"/ });
});
