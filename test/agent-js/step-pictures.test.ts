import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { type AgentFixture, openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { numberedPage, numberOn } from '../support/numbered-page.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
site.set('/numbered', (request, response) => {
  const number = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('n'));
  response.writeHead(200, { 'content-type': 'text/html' }).end(numberedPage(number, '/numbered'));
});

/** 22 steps, each of which raises the number by one; the first shows 1. */
async function runFlow({ call }: AgentFixture): Promise<void> {
  await call('go', `${site.origin}/numbered?n=1`);
  for (let round = 0; round < 4; round += 1) {
    await call('act', '{button}More', 'click');
    await call('act', '{input}Text', 'input', 'a');
    await call('act', '{input}Check', 'check');
    await call('act', '{select}Choice', 'select', 'b');
    await call('act', '{a}Link', 'click');
  }
  await call('act', '{button}More', 'click');
}

/** What each step's picture shows; null where it has none. */
function shown({ told, screenshotsDir }: AgentFixture): (number | null)[] {
  return told('StepFinished').map(({ screenshot }) =>
    screenshot === null ? null : numberOn(readFileSync(join(screenshotsDir, screenshot))),
  );
}

const FLOWS = Array.from({ length: 200 }, (_, index) => index);
const STEPS = 22;

/** As many threads as there are cores do nothing but count. */
async function keepBusy(t: Test): Promise<void> {
  const burners = Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }));
  t.teardown(() => Promise.all(burners.map((burner) => burner.terminate())));
  await Promise.all(burners.map((burner) => once(burner, 'online')));
}

for (const { machine, count } of [
  { machine: 'an idle', count: 2 },
  { machine: 'a busy', count: 1 },
]) {
  t.test(`Each of 22 fast steps has the picture of what it led to, on ${machine} machine`, async (t) => {
    if (machine === 'a busy') await keepBusy(t);
    let lost = 0;
    let wrong = 0;
    for (const flow of sampled(FLOWS, { name: machine, count })) {
      const fixture = await openAgent(t, lease, { policy: 'on' });
      await runFlow(fixture);
      await fixture.agent.dispose();
      fixture.browser.close();
      const numbers = shown(fixture);
      if (numbers.length !== STEPS) t.fail(`flow ${flow} has ${numbers.length} steps`);
      wrong += numbers.filter((number, index) => number !== null && number !== index + 1).length;
      lost += numbers.filter((number) => number === null).length;
      if (numbers.some((number, index) => number !== index + 1)) t.comment(`flow ${flow}: ${numbers.join(' ')}`);
      rmSync(fixture.screenshotsDir, { recursive: true });
    }
    t.equal(wrong, 0, 'no picture shows another step');
    t.equal(lost, 0, 'every step has one');
  });
}

/** The flow's steps on pages that make it hard; what each has must be its own or nothing. */
async function told(t: Test, steps: readonly (readonly unknown[])[]): Promise<(number | null)[]> {
  const fixture = await openAgent(t, lease, { policy: 'on' });
  for (const [method, ...args] of steps) await fixture.call(String(method), ...args);
  await fixture.agent.dispose();
  fixture.browser.close();
  return shown(fixture);
}

/** A page of its own path, numbered from 1. */
function page(path: string, more: string): string {
  return site.set(path, numberedPage(1, path, more));
}
const MORE = ['act', '{button}More', 'click'];

t.test('Pages that move all the time are pictured as each step left them', async (t) => {
  const moving =
    '<style>@keyframes turn { to { transform: rotate(1turn) } }</style><div style="position:fixed;right:9px;top:9px;width:200px;height:200px;background:linear-gradient(red,blue);animation:turn 1s linear infinite"></div><canvas id=c style="position:fixed;right:9px;bottom:9px"></canvas><script>const g=c.getContext("2d");requestAnimationFrame(function f(at){g.fillStyle="hsl("+at/9%360+",90%,50%)";g.fillRect(0,0,300,150);requestAnimationFrame(f)})</script>';
  t.same(await told(t, [['go', page('/moving', moving)], MORE, MORE, MORE, MORE, MORE]), [1, 2, 3, 4, 5, 6]);
});

t.test('A step that paints nothing has the picture of the page as it is', async (t) => {
  const fixture = await openAgent(t, lease, { policy: 'on' });
  await fixture.call('go', page('/still', ''));
  await fixture.call(...(MORE as [string, ...unknown[]]));
  for (let time = 0; time < 3; time += 1) await fixture.call('act', '{button}More', 'hover');
  await fixture.call('act', '{button}More', 'click');
  await fixture.agent.dispose();
  fixture.browser.close();
  t.same(shown(fixture), [1, 2, 2, 2, 2, 3]);
  const names = fixture.told('StepFinished').map(({ screenshot }) => screenshot);
  t.ok(new Set(names).size < names.length, 'steps after which nothing was painted share a file');
  t.same(readdirSync(fixture.screenshotsDir).sort(), [...new Set(names)].sort(), 'each picture is there once');
});

t.test('A page that hides, covers or takes away the mark is pictured all the same', async (t) => {
  for (const [name, more] of [
    ['modal', '<dialog id=d style="top:200px">Asks</dialog><script>d.showModal();d.close();</script>'],
    ['pseudo', '<style>html::after { content: none !important; display: none !important }</style>'],
    ['turned', '<style>html { transform: translate(0, 0) }</style>'],
    ['covered', '<div popover id=p style="left:0;top:300px">Covers</div><script>p.showPopover()</script>'],
    ['sheets', '<script>setInterval(() => { document.adoptedStyleSheets = [] }, 1)</script>'],
    [
      'slow',
      '<script>more.addEventListener("click", () => requestAnimationFrame(() => { const end = performance.now() + 200; while (performance.now() < end); }))</script>',
    ],
    ['frames', '<iframe srcdoc="<p>A frame of the same origin" style="position:fixed;top:300px"></iframe>'],
    [
      'clocks',
      '<script>requestAnimationFrame = () => 0; MessageChannel = undefined; performance.now = () => 0; getComputedStyle = () => ({})</script>',
    ],
  ] as const) {
    t.same(await told(t, [['go', page(`/${name}`, more)], MORE, MORE, MORE]), [1, 2, 3, 4], name);
  }
});

t.test('A frame of another origin is on its step’s picture', async (t) => {
  const inner = site
    .set('/inner', numberedPage(1, '/inner', '<style>#controls { top: 90px }</style>'))
    .replace('127.0.0.1', 'localhost');
  const outer = `<!doctype html><title>Outer</title><style>body { margin: 0 } iframe { border: 0; width: 1280px; height: 700px }</style><iframe src="${inner}"></iframe>`;
  t.same(await told(t, [['go', site.set('/outer', outer)], MORE, MORE, MORE]), [1, 2, 3, 4]);
});

t.test('Steps that lead to another tab, to a dialog and back are never pictured as one another', async (t) => {
  const other = page('/other', '');
  const opener = page(
    '/opener',
    `<button style="position:fixed;top:300px" onclick="raise();window.open('${other}')">Open</button><button style="position:fixed;top:400px" onclick="raise();alert('Stop')">Ask</button>`,
  );
  const fixture = await openAgent(t, lease, { policy: 'on' });
  const { call } = fixture;
  await call('go', opener);
  await call('act', '{button}Open', 'click');
  await call('act', '{button}More', 'click');
  await call('tab', 0);
  await call('act', '{button}More', 'click');
  await call('act', '{button}Ask', 'click');
  await call('act', '{dialog}OK', 'click');
  await call('back').catch(() => undefined);
  await fixture.agent.dispose();
  fixture.browser.close();
  const [first, opened, more, back, asked, answered] = shown(fixture);
  t.same([first, opened, more, back, asked, answered], [1, 1, 2, 3, null, 4]);
});

t.test('A page that crashes costs no step its own picture', async (t) => {
  const fixture = await openAgent(t, lease, { policy: 'on' });
  const { call, agent, browser } = fixture;
  const url = page('/crash', '');
  await call('go', url);
  await call(...(MORE as [string, ...unknown[]]));
  await agent.settle();
  await browser.send('Page.crash', {}, { session: agent.activePage, timeoutMs: 300 }).catch(() => undefined);
  await fixture.failure(...(MORE as [string, ...unknown[]]));
  await call('go', url);
  await call(...(MORE as [string, ...unknown[]]));
  await agent.dispose();
  browser.close();
  t.same(shown(fixture), [1, 2, null, 1, 2]);
});

t.end();
