import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { agent, call, failure, screenshotsDir, told } = await openAgent(t, lease);
const folder = join(dirname(screenshotsDir), 'pdf');
type Paper = { file: string; bytes: number };

/** Width and height of the first page, in millimeters: browsers round points in their own ways. */
function sizeOf(pdf: Buffer): number[] {
  const [, box = ''] = /\/MediaBox\s*\[([^\]]+)\]/.exec(pdf.toString('latin1')) ?? [];
  const [, , width, height] = box.trim().split(/\s+/).map(Number);
  return [width, height].map((points = 0) => Math.round((points / 72) * 25.4));
}

t.test('a page becomes a PDF on A4 in the artifacts', async (t) => {
  await call('go', site.set('/invoice', '<h1>Invoice</h1>'));
  const { file, bytes } = (await call('pdf', { name: 'invoice' })) as Paper;
  t.match(file, /^\d{3}-invoice\.pdf$/);
  const pdf = readFileSync(join(folder, file));
  t.equal(pdf.byteLength, bytes);
  t.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  t.same(sizeOf(pdf), [210, 297]);
  await agent.settle();
  t.match(told('StepFinished').at(-1), { js: 'agent.pdf({"name":"invoice"})', result: { file, bytes } });
});

t.test('a page lies across, and one that asks for a size has it', async (t) => {
  await call('go', site.set('/wide', '<h1>Wide</h1>'));
  const wide = (await call('pdf', { landscape: true })) as Paper;
  t.same(sizeOf(readFileSync(join(folder, wide.file))), [297, 210]);
  await call('go', site.set('/own', '<style>@page { size: 4in 6in }</style><h1>Own</h1>'));
  const own = (await call('pdf')) as Paper;
  t.same(sizeOf(readFileSync(join(folder, own.file))), [102, 152]);
});

t.test('a PDF of many pages is whole', async (t) => {
  const noise = Array.from({ length: 300 }, (_, n) => `<p>Line ${n} ${'word '.repeat(20)}</p>`).join('');
  await call('go', site.set('/long', noise));
  const { file } = (await call('pdf', { timeout: 80_000 })) as Paper;
  t.match(readFileSync(join(folder, file)).subarray(-32).toString('latin1'), /%%EOF/);
});

t.test('what is written wrongly is refused, and a page that asks something is not printed', async (t) => {
  const before = existsSync(folder) ? readdirSync(folder).length : 0;
  for (const [options, why] of [
    [{ name: '../x' }, /name is letters/],
    [{ name: '' }, /name is letters/],
    [{ landscape: 1 }, /true or false/],
    [{ format: 'A5' }, /no option "format"/],
    ['invoice', /options .* are an object/],
  ] as const) {
    t.match(await failure('pdf', options), { code: 'SCRIPT_ERROR', error: why }, JSON.stringify(options));
  }
  await call('go', site.set('/asks', '<script>setTimeout(() => confirm("Sure?"))</script>'));
  await call('wait', '{dialog}OK');
  t.match(await failure('pdf'), { code: 'ACTION_FAILED', error: /Sure\?/ });
  await call('act', '{dialog}OK', 'click');
  t.equal(readdirSync(folder).length, before);
});
