import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { PageInput } from '#troupe/protocol/control.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';

guardLeaks(t);

/** A page that writes down what is done to it. */
const PAGE = `data:text/html,${encodeURIComponent(`<title>hands</title>
<body style="margin: 0; height: 3000px">
<button style="position: absolute; left: 100px; top: 50px; width: 80px; height: 40px">Press</button>
<input aria-label=Field style="position: absolute; left: 100px; top: 120px; width: 200px; height: 30px">
<script>
const seen = [];
const button = document.querySelector('button');
button.onclick = (event) => seen.push('click ' + event.detail + (event.ctrlKey ? ' ctrl' : ''));
button.onauxclick = (event) => seen.push('aux ' + event.button);
button.oncontextmenu = (event) => { event.preventDefault(); seen.push('menu'); };
document.body.onclick = (event) => { if (event.target === document.body) seen.push('tap'); };
addEventListener('touchstart', (event) => seen.push('touch ' + event.touches.length));
addEventListener('wheel', (event) => seen.push('wheel ' + event.deltaY));
addEventListener('keydown', (event) => seen.push('key ' + event.code + (event.repeat ? ' again' : '')));
</script>`)}`;

const service = await startTestService(t);

function press(
  x: number,
  y: number,
  more: { button?: 'left' | 'middle' | 'right'; clicks?: number; modifiers?: number } = {},
) {
  const { button = 'left', clicks = 1, modifiers = 0 } = more;
  const buttons = { left: 1, right: 2, middle: 4 }[button];
  const at = { kind: 'mouse', x, y, button, clicks, modifiers } as const;
  return [
    { ...at, action: 'move', button: 'none', buttons: 0, clicks: 0 },
    { ...at, action: 'down', buttons },
    { ...at, action: 'up', buttons: 0 },
  ] satisfies PageInput[];
}

function key(name: string, code: string, modifiers = 0): PageInput[] {
  const stroke = { kind: 'key', key: name, code, modifiers } as const;
  return [
    { ...stroke, action: 'down' },
    { ...stroke, action: 'up' },
  ];
}

t.test('Mouse, wheel, keys, fingers and pasted text reach the page of who has control, and nobody else', async (t) => {
  const { id } = await service.live({ viewport: { width: 800, height: 600 } });
  await service.run(id, `agent.go(${JSON.stringify(PAGE)})`);
  const client = await StreamClient.open(service.url);
  client.ask({ type: 'watchScreen', id, pace: 'live' });
  await client.until(() => client.of('frame').length > 0);
  t.match(client.of('frame')[0], { width: 800, height: 600 });

  client.ask({ type: 'input', id, inputs: press(140, 70) });
  await client.until(() => client.of('refused').length === 1);
  t.match(client.of('refused')[0], { id, error: { code: 'SESSION_BUSY' } });
  const { body } = await service.call('POST', `/api/sessions/${id}/control`, { take: true });
  const asPerson = async (js: string) =>
    (await service.call('POST', `/sessions/${id}/proxy`, { js, control: body.control })).body;
  client.ask({ type: 'holdControl', id, key: body.control });
  client.ask({ type: 'input', id, inputs: press(140, 70) });
  client.ask({ type: 'input', id, inputs: [...press(140, 70, { modifiers: 2 }), ...press(140, 70, { clicks: 2 })] });
  client.ask({
    type: 'input',
    id,
    inputs: [...press(140, 70, { button: 'right' }), ...press(140, 70, { button: 'middle' })],
  });
  const points = [{ x: 140, y: 400, id: 0 }];
  client.ask({ type: 'input', id, inputs: [{ kind: 'touch', action: 'start', points, modifiers: 0 }] });
  client.ask({ type: 'input', id, inputs: [{ kind: 'touch', action: 'end', points: [], modifiers: 0 }] });
  // A finger takes its own way through the browser: what it does comes later than what is done by hand after it.
  await eventually('the finger is felt', async () => (await asPerson(`agent.page('seen')`)).includes('tap'));
  client.ask({ type: 'input', id, inputs: press(150, 135) });
  client.ask({
    type: 'input',
    id,
    inputs: [...key('H', 'KeyH', 8), ...key('i', 'KeyI'), { kind: 'text', text: ' grüezi 🐈' }],
  });
  client.ask({ type: 'input', id, inputs: [{ kind: 'wheel', x: 400, y: 300, dx: 0, dy: 240, modifiers: 0 }] });
  await eventually('all is felt', async () => (await asPerson(`agent.page('seen')`)).length >= 11);
  t.equal(client.of('refused').length, 1, 'what was done with control was not refused');
  t.same(await asPerson(`agent.page('seen')`), [
    'click 1',
    'click 1 ctrl',
    'click 2',
    'menu',
    'aux 2',
    'aux 1',
    'touch 1',
    'tap',
    'key KeyH',
    'key KeyI',
    'wheel 240',
  ]);
  await eventually('the text is there', async () => (await asPerson(`agent.value('{input}Field')`)) === 'Hi grüezi 🐈');

  client.ask({ type: 'input', id, inputs: key('a', 'KeyA', 2) });
  client.ask({ type: 'copy', id });
  await client.until(() => client.of('copied').length === 1);
  t.equal(client.of('copied')[0]?.text, 'Hi grüezi 🐈');
  // What the page makes of its built-ins gives it no say in what is copied, nor shows a password.
  await asPerson(`agent.page(\`String.prototype.slice = () => 'of the page';
    Object.defineProperty(HTMLInputElement.prototype, 'type', { get: () => 'text' }); 0\`)`);
  client.ask({ type: 'copy', id });
  await client.until(() => client.of('copied').length === 2);
  t.equal(client.of('copied')[1]?.text, 'Hi grüezi 🐈');
  await asPerson(
    `agent.page('document.activeElement.setAttribute("type", "password"); document.activeElement.select(); 0')`,
  );
  client.ask({ type: 'copy', id });
  await client.until(() => client.of('copied').length === 3);
  t.equal(client.of('copied')[2]?.text, '');
  await asPerson(
    `agent.page('document.activeElement.setAttribute("type", "text"); document.activeElement.select(); 0')`,
  );
  client.ask({ type: 'input', id, inputs: key('Backspace', 'Backspace') });
  await eventually('it is deleted', async () => (await asPerson(`agent.value('{input}Field')`)) === '');

  const other = await StreamClient.open(service.url);
  other.ask({ type: 'holdControl', id, key: 'k'.repeat(22) });
  other.ask({ type: 'copy', id });
  await other.until(() => other.of('refused').length === 2);
  await service.call('POST', `/api/sessions/${id}/control`, { take: false });
  client.ask({ type: 'input', id, inputs: press(140, 70) });
  await client.until(() => client.of('refused').length === 2);
  t.match(client.of('refused')[1], { id, error: { code: 'SESSION_BUSY' } });
  await Promise.all([client.close(), other.close()]);
  await service.call('DELETE', `/api/sessions/${id}`);
});

/** The pixels of a JPEG across: in its frame header (ITU-T T.81, B.2.2). */
function widthOf(jpeg: Uint8Array): number {
  const bytes = Buffer.from(jpeg);
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at);
    if (marker >= 0xffc0 && marker <= 0xffc2) return bytes.readUInt16BE(at + 7);
  }
  return 0;
}

t.test('A picture is as large as it is shown, and none comes of a page that stays as it is', async (t) => {
  const { id } = await service.live({ viewport: { width: 800, height: 600 } });
  const page = '<title>0</title><body style="background: rgb(0, 0, 0)">';
  await service.run(id, `agent.go(${JSON.stringify(`data:text/html,${encodeURIComponent(page)}`)})`);
  const client = await StreamClient.open(service.url);
  client.ask({ type: 'watchScreen', id, pace: 'slow', width: 300 });
  await client.until(() => client.of('frame').length > 0);
  t.equal(widthOf(client.of('frame')[0]?.jpeg ?? new Uint8Array()), 320);
  // As long as a page that changes gives two more.
  const { id: moving } = await service.live();
  await service.run(
    moving,
    'agent.page("setInterval(() => { document.title = document.body.textContent = Date.now() }, 50); 0")',
  );
  client.ask({ type: 'watchScreen', id: moving, pace: 'slow', width: 300 });
  const framesOf = (one: string) => client.of('frame').filter((frame) => frame.id === one);
  await client.until(() => framesOf(moving).length >= 3);
  client.ask({ type: 'unwatchScreen', id: moving });
  t.equal(framesOf(id).length, 1);
  await service.call('DELETE', `/api/sessions/${moving}`);
  await service.run(id, `agent.page("document.body.style.background = 'rgb(0, 200, 0)'")`);
  await client.until(() => framesOf(id).length === 2);
  client.ask({ type: 'watchScreen', id, pace: 'live', width: 800 });
  await client.until(() => framesOf(id).some(({ jpeg }) => widthOf(jpeg) === 800));
  client.ask({ type: 'unwatchScreen', id });
  const other = await StreamClient.open(service.url);
  other.ask({ type: 'watchScreen', id, pace: 'live', width: 800 });
  await other.until(() => other.of('frame').length > 0);
  await Promise.all([client.close(), other.close()]);
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('A screen that is watched while its session waits begins when that one runs', async (t) => {
  const full = await startTestService(t, { maxSessions: 1 });
  const { id: first } = await full.live();
  writeFileSync(join(full.home, 'flows', 'endless.js'), 'for (;;) agent.wait(20)');
  const task = { prompt: 'wait', flowFiles: ['endless.js'], maxIterations: 0 };
  const { id } = (await full.call('POST', '/api/jobs', task)).body;
  const client = await StreamClient.open(full.url);
  client.ask({ type: 'watchScreen', id, pace: 'live' });
  client.ask({ type: 'watchScreen', id: first, pace: 'live' });
  await client.until(() => client.of('frame').some((frame) => frame.id === first));
  t.notOk(client.of('frame').some((frame) => frame.id === id));
  await full.call('DELETE', `/api/sessions/${first}`);
  await client.until(() => client.of('frame').some((frame) => frame.id === id));
  await client.close();
});
