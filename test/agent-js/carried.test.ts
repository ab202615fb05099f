import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease);

async function open(html: string): Promise<readonly string[]> {
  await call('go', site.set('/carried', `<!doctype html><title>Carried</title>${html}`));
  const { elements } = await look({ full: true });
  return elements.map(({ locator, actions }) => `${locator} ${actions.join(' ')}`);
}

t.test('what a page places on a surface that hears the press is listed, and its scale is not', async (t) => {
  const placed = (kind: string, x: number, y: number, text: string): string =>
    `<div class="time-${kind}" style="position: absolute; transform: translate(${x}px, ${y}px)">${text}</div>`;
  const found = await open(`<div class="time-line" id=line style="position: relative; height: 200px">
    ${placed('item', 40, 20, 'Standup')}${placed('item', 200, 60, 'Review')}${placed('text', 40, 180, 'Mon 4')}${placed('text', 200, 180, 'Tue 5')}
    <div class="time-row" style="position: absolute; top: 120px">Row</div></div>
    <div class="card-item" style="position: absolute; left: 10px; top: 300px">Elsewhere</div>
    <script>line.addEventListener('pointerdown', () => {}); line.addEventListener('wheel', () => {});</script>`);
  t.same(found.slice(1), ['{div}Standup click drag', '{div}Review click drag']);
  t.match(found[0], /^{div}Standup Review .* click$/, 'the surface itself');
});

t.test('a surface that is moved by dragging is listed, and not called by what is on it', async (t) => {
  const found = await open(`<style>.map-pane { cursor: grab; width: 900px; height: 500px }</style>
    <section><div class="map-pane" id=city><a href="#in">Zoom in</a><p>Here</p></div></section>
    <section><div class="map-pane">Nothing hears</div></section><script>city.addEventListener('mousedown', () => {});</script>`);
  t.same(found, ['{div}city click drag', '{a}Zoom in click']);
});

t.test('what is chosen in a field is listed beside the sign that takes it away', async (t) => {
  const chip = (text: string): string =>
    `<span class="chip" tabindex="-1">${text}<button aria-label="Remove"></button></span>`;
  const found = await open(`<style>button { width: 12px; height: 12px; padding: 0 }</style>
    <div id=chips tabindex=-1>${chip('Ada')}${chip('Ben')}<input aria-label="People"></div>
    <script>chips.addEventListener('click', () => {});</script>`);
  t.same(found, [
    '{span}Ada click',
    '{button:1}Remove click',
    '{span}Ben click',
    '{button:2}Remove click',
    '{input}People input clear press click',
  ]);
});

t.test('a drag by so far begins slowly: little is lost where a page counts from the first move', async (t) => {
  await open(`<div id=box style="position: absolute; left: 0; top: 50px; width: 80px; height: 40px; background: teal">Box</div><script>
    let last = null; box.onpointerdown = () => { last = 'pressed'; };
    onpointermove = (event) => { if (last === null) return;
      if (last !== 'pressed') box.style.left = box.offsetLeft + event.clientX - last + 'px'; last = event.clientX; };
    onpointerup = () => { last = null; };</script>`);
  await call('act', '#box', 'drag', { by: [60, 0] });
  t.ok(Number(await call('page', 'box.offsetLeft')) >= 58);
});

t.test('a drag takes hold of an element beside a small part that is drawn in its middle', async (t) => {
  await open(`<svg width=400 height=60><g id=bar><rect width=200 height=40 fill=teal /><circle id=part cx=100 cy=20 r=6 /></g></svg><script>
    let held = null; document.addEventListener('mousedown', (event) => { held = event.target.id; });
    document.addEventListener('mousemove', (event) => { if (held === null) return;
      (held === 'part' ? part : bar).setAttribute('transform', 'translate(' + event.movementX * 9 + ')'); });
    document.addEventListener('mouseup', () => { held = null; });</script>`);
  await call('act', '#bar', 'drag', { by: [60, 0] });
  t.equal(await call('page', 'part.hasAttribute("transform")'), false);
  t.equal(await call('page', 'bar.hasAttribute("transform")'), true);
});

t.test('a press on a card passes by a button and a box in its middle, however large', async (t) => {
  const button = '<button style="position: absolute; left: 60px; top: 10px; width: 80px; height: 60px">Delete</button>';
  const box = '<input type=checkbox style="position: absolute; left: 70px; top: 10px; width: 60px; height: 60px">';
  for (const inner of [button, box]) {
    await open(`<div class=card style="position: relative; width: 200px; height: 80px; cursor: pointer">Card ${inner}</div><script>
      var pressed = []; document.querySelector('.card').onclick = (event) => { pressed.push(event.target.localName); };</script>`);
    await call('act', '.card', 'click');
    t.same(await call('page', 'pressed'), ['div']);
  }
});

t.test('a picture that fills what reacts to presses is no control of its own', async (t) => {
  const star = (n: number): string => `<span class=option aria-label="${n} stars"><span class=star></span></span>`;
  const found =
    await open(`<style>.option, .star { display: inline-block; width: 20px; height: 20px } .star { cursor: pointer; background: gold }</style>
    <div id=stars>${[1, 2, 3].map(star).join('')}</div>
    <script>for (const one of document.querySelectorAll('.option')) one.addEventListener('click', () => {});</script>`);
  t.same(found, ['{span}1 stars click', '{span}2 stars click', '{span}3 stars click']);
});

t.end();
