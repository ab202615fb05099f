import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease);

const names = async () =>
  (await look({ full: true })).elements.map(({ locator, offscreen }) => [locator, offscreen ?? false]);

t.test('A card that cuts what flows over it is seen below and above the fold', async (t) => {
  for (const overflow of ['hidden', 'clip', 'auto']) {
    const page = site.set(
      `/card-${overflow}`,
      `<button>First</button><div style="height:3000px"></div>
       <div style="overflow:${overflow};height:200px"><div style="overflow:${overflow}"><button>In card</button></div></div>
       <div style="height:3000px"></div><button>Last</button>`,
    );
    await call('go', page);
    t.same(
      await names(),
      [
        ['{button}First', false],
        ['{button}In card', true],
        ['{button}Last', true],
      ],
      overflow,
    );
    await call('act', '{button}Last', 'scroll');
    t.same(
      await names(),
      [
        ['{button}First', true],
        ['{button}In card', true],
        ['{button}Last', false],
      ],
      overflow,
    );
    t.match(await call('act', '{button}In card', 'click'), { url: page });
  }
});

t.test('What a scroller has cut is offscreen, however far it has scrolled', async (t) => {
  const rows = Array.from({ length: 60 }, (_, row) => `<li><button>Row ${row + 1}</button></li>`).join('');
  const page = site.set(
    '/scroller',
    `<div style="overflow:hidden;height:500px"><ul id="box" style="overflow:auto;height:200px">${rows}</ul></div>`,
  );
  await call('go', page);
  t.equal((await names()).length, 60);
  await call('page', "document.getElementById('box').scrollTop = 1e6");
  const scrolled = await names();
  t.equal(scrolled.length, 60);
  t.same(scrolled[0], ['{button}Row 1', true]);
  t.same(scrolled.at(-1), ['{button}Row 60', false]);
  t.match(await call('act', '{button}Row 1', 'click'), { url: page });
});

t.test('What nobody can scroll to is not there', async (t) => {
  const page = site.set(
    '/cut',
    `<button>Here</button>
     <div style="overflow:hidden;height:50px;width:300px;position:relative">
       <button style="position:absolute;left:400px">Beside</button><button style="position:absolute;top:80px">Under</button>
     </div>
     <div style="overflow:auto;height:50px;position:relative"><button style="position:absolute;left:-9999px">Before</button></div>
     <button style="position:absolute;left:-9999px">Out</button>`,
  );
  await call('go', page);
  t.same(await names(), [['{button}Here', false]]);
});

t.test(
  'an item that begins at the inner edge of a box with a border is scrolled out of sight, and listed',
  async (t) => {
    const options = Array.from({ length: 6 }, (_, n) => `<div role=option style="height:30px">Option ${n + 1}</div>`);
    for (const style of [
      'border:1px solid',
      'border:12px solid',
      'border:3px solid;transform:scale(1.5);transform-origin:0 0',
    ]) {
      const page = `<div role=listbox aria-label=Hour style="width:80px;height:90px;overflow-y:scroll;${style}">${options.join('')}</div>`;
      await call('go', site.set('/edge', page));
      const seen = (await names()).filter(([locator]) => String(locator).startsWith('{option}'));
      t.same(
        seen,
        [1, 2, 3, 4, 5, 6].map((n) => [`{option}Option ${n}`, n > 3]),
        style,
      );
    }
  },
);
