import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease);

async function listed(html: string): Promise<readonly string[]> {
  await call('go', site.set('/parts', `<!doctype html><title>Parts</title>${html}`));
  const { elements } = await look({ full: true });
  return elements.map(({ locator, actions }) => `${locator} ${actions.join(' ')}`);
}

t.test('what is not read out beside a field is not its name', async (t) => {
  t.same(
    await listed(
      '<h3>Script</h3><div style="display:flex"><div aria-hidden=true>1 2 3 ›</div><div role=textbox contenteditable>x</div></div>',
    ),
    ['{textbox}Script input clear press click'],
  );
});

t.test('a slider is not called by the number that its track begins with', async (t) => {
  t.same(
    await listed(
      `<label>Loudness</label><div><span>0</span><div><div style="width:200px"><div role=slider tabindex=0 aria-valuemin=0
        aria-valuemax=100 aria-valuenow=50 style="width:20px;height:20px;background:teal"></div></div></div><span>100</span></div>`,
    ),
    ['{slider}Loudness click press input'],
  );
});

t.test('what is drawn in the place of a field that is out of sight has its name', async (t) => {
  const hidden = 'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
  t.same(
    await listed(
      `<label for=m>Months</label><select id=m multiple style="display:none"><option>May</select>
       <div><button class=ms-choice><div class=icon-caret style="width:9px;height:9px"></div></button></div>`,
    ),
    ['{button}Months click'],
  );
  t.same(
    await listed(
      `<div class=stars>${[1, 2, 3]
        .map(
          (n) =>
            `<div class=option style="cursor:pointer;display:inline-block"><span style="${hidden}"><input type=radio name=s aria-label="${n} stars"></span><svg width=16 height=16><rect width=16 height=16 /></svg></div>`,
        )
        .join('')}</div>`,
    ),
    ['{div}1 stars click', '{div}2 stars click', '{div}3 stars click'],
  );
});

t.test('a switch that is a button out of sight is listed once, by its label, and checked there', async (t) => {
  const page = `<style>.look { cursor: pointer; width: 40px; height: 20px; background: teal }
    button { position: absolute; width: 1px; height: 1px; padding: 0; margin: -1px; border: 0; overflow: hidden; clip-path: inset(50%) }</style>
    <button role=switch id=s aria-checked=false onclick="this.ariaChecked = String(this.ariaChecked !== 'true')"></button>
    <label for=s><span>Airplane mode</span><div class=look></div></label>`;
  t.same(await listed(page), ['{switch}Airplane mode click check uncheck']);
  await call('act', '{switch}Airplane mode', 'check');
  t.equal(await call('page', 's.ariaChecked'), 'true');
});

t.test('empty cells of a sheet are called by row and column', async (t) => {
  const cells = (y: number, texts: readonly string[]): string =>
    `<tr><td>${y + 1}</td>${texts.map((text, x) => `<td data-x=${x} data-y=${y}>${text}</td>`).join('')}</tr>`;
  t.same(
    await listed(
      `<table id=sheet><thead><tr><td></td><td>Car</td><td>Make</td></tr></thead><tbody>${cells(0, ['Jazz', 'Honda'])}${cells(1, ['', ''])}</tbody></table>
       <script>document.addEventListener('mousedown', () => {})</script><style>td { width: 80px; height: 20px }</style>`,
    ),
    ['{td}Jazz click', '{td}Honda click', '{td}2 Car click', '{td}2 Make click'],
  );
});

t.test('an item that opens its menu under the pointer stands among those that are pressed', async (t) => {
  const found = await listed(
    `<ul id=menu><li>Heading</li><li class=press>Copy</li><li class=more>More</li></ul>
     <style>.more::after { content: '›' }</style><script>
     menu.addEventListener('click', (event) => event.stopPropagation());
     for (const item of menu.children) item.addEventListener('mouseenter', () => {});
     document.querySelector('.press').addEventListener('click', () => {});</script>`,
  );
  t.same(found, ['{li}Copy click', '{li}More hover']);
});

t.test(
  'what is carried in a pane that is moved itself is listed, and lines of a drawing that go straight down',
  async (t) => {
    const found = await listed(
      `<div id=pane style="cursor:grab;width:600px;height:300px;position:relative"><svg width=600 height=300 style="position:absolute">
       <g id=edge role=button tabindex=0 aria-label="Edge"><path d="M60,40 L60,200" stroke="black" stroke-width="10" fill="none"/></g></svg>
       ${['Alpha', 'Beta']
         .map(
           (name, nth) =>
             `<div class=node style="cursor:grab;position:absolute;left:${200 * nth + 100}px;top:20px">${name}<div class="port handle" style="width:8px;height:8px"></div></div>`,
         )
         .join('')}</div>
     <script>pane.addEventListener('mousedown', () => {}); edge.addEventListener('click', () => { edge.dataset.pressed = 'yes' });
     for (const one of document.querySelectorAll('.node, .port')) one.addEventListener('mousedown', () => {});</script>`,
    );
    for (const one of ['{button}Edge click', '{div}Alpha click drag', '{div}Beta click drag'])
      t.ok(found.includes(one), `${one} is among ${found.join(', ')}`);
    await call('act', '{button}Edge', 'click');
    t.equal(await call('page', 'edge.dataset.pressed'), 'yes');
  },
);

t.test('what makes a box larger is dragged by its edges, and called by them', async (t) => {
  const edge = (side: string, cursor: string, at: string): string =>
    `<span class="${side}" style="position:absolute;cursor:${cursor};width:10px;height:10px;${at}"></span>`;
  t.same(
    await listed(
      `<div id=box style="position:relative;width:300px;height:200px;background:#eee"><p>Text</p>
       ${edge('se', 'nwse-resize', 'right:0;bottom:0')}${edge('e', 'ew-resize', 'right:0;top:95px')}</div>
       <div style="display:flex;width:300px;height:50px"><p style="flex:1">Left</p><div id=split style="width:8px;cursor:col-resize"></div><p style="flex:1">Right</p></div>
       <script>document.addEventListener('pointerdown', () => {}); split.addEventListener('mousedown', () => {});</script>`,
    ),
    ['{span}resize bottom right click drag', '{span}resize right click drag', '{div}split click drag'],
  );
});

t.test('the fields of a board whose listener is around them are listed, the empty ones by their place', async (t) => {
  const field = (text: string): string => `<div style="width:40px;height:40px;background:#eee">${text}</div>`;
  const listen = "<script>board.addEventListener('click', () => {})</script>";
  const fields = ['{div}X click', '{div}O click', '{div}row 2 column 1 click', '{div}row 2 column 2 click'];
  t.same(
    await listed(
      `<div id=board style="display:grid;grid-template-columns:40px 40px;gap:2px">${['X', 'O', '', ''].map(field).join('')}</div>${listen}`,
    ),
    fields,
  );
  const row = (texts: readonly string[]): string => `<div style="display:flex">${texts.map(field).join('')}</div>`;
  t.same(await listed(`<div id=board>${row(['X', 'O'])}${row(['', ''])}</div>${listen}`), fields);
  t.same(
    await listed(
      `<style>td { width: 40px; height: 40px }</style><table id=board><tbody><tr><td>X</td><td>O</td></tr><tr><td></td><td></td></tr></table>${listen}`,
    ),
    fields.map((one) => one.replace('div', 'td')),
  );
});

t.test('the hours of a day remain apart when an event stands among them', async (t) => {
  const hours = [8, 9, 10, 11, 12, 13].map((hour) => `<div class=hour style="height:30px">${hour}:00</div>`).join('');
  const found = await listed(
    `<div id=day style="width:300px">${hours}<p class=event>Lunch</p></div><script>day.addEventListener('mousedown', () => {})</script>`,
  );
  t.same(found, [...[8, 9, 10, 11, 12, 13].map((hour) => `{div}${hour}:00 click`), '{p}Lunch click']);
});

t.test('a handle in one of several rows without a class is called by its own row', async (t) => {
  const row = (text: string): string =>
    `<div style="width:200px"><span class=handle style="cursor:grab">+</span> ${text}</div>`;
  t.same(await listed(`<div class=list>${row('Move me')}${row('Or me')}</div><div class=list></div>`), [
    '{span}+ Move me click drag',
    '{span}+ Or me click drag',
  ]);
});
