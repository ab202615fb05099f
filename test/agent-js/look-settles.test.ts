import t from 'tap';
import { renderLook } from '#troupe/agent-js/look/render.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, look } = await openAgent(t, lease);

site.set('/suggestions', (_, response) => setTimeout(() => response.end('["Paris", "Parma"]'), 100));

t.test('look waits for suggestions that a page asks for after a pause', async (t) => {
  const page = `<input aria-label=City><ul id=list></ul><script>
    let timer;
    document.querySelector('input').oninput = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const names = await (await fetch('/suggestions')).json();
        list.innerHTML = names.map((name) => '<li><button>' + name + '</button></li>').join('');
      }, 250);
    };
  </script>`;
  await call('go', site.set('/debounced', page));
  await call('act', '{input}City', 'input', 'Par');
  const { elements } = await look({ full: true });
  t.same(
    elements.map(({ locator }) => locator),
    ['{input}City', '{button}Paris', '{button}Parma'],
  );
});

t.test('look waits for an animation that ends, and for none that does not', async (t) => {
  const page = `<style>
    @keyframes turn { to { rotate: 360deg } }
    #spinner { width: 9px; height: 9px; animation: turn 1s infinite linear }
    #panel { visibility: hidden; transition: visibility 0s 300ms, opacity 300ms; opacity: 0 }
    #panel.open { visibility: visible; opacity: 1 }
  </style>
  <div id=spinner></div><button onclick="panel.className = 'open'">Open</button><div id=panel><button>Inside</button></div>`;
  await call('go', site.set('/animated', page));
  const first = await look({ full: true });
  t.equal(first.unsettled, undefined, 'the spinner turns, and nobody waits for it');
  await call('act', '{button}Open', 'click');
  const { elements } = await look({ full: true });
  t.ok(elements.some(({ locator }) => locator === '{button}Inside'));
});

t.test('look waits for what a script animates frame by frame, and once for what it animates without end', async (t) => {
  const page = `<button id=open>Open</button><ul id=list style="display: none; margin: 0">
    <li style="height: 40px"><button>First</button><li style="height: 40px"><button>Second</button></ul><script>
    open.onclick = () => {
      Object.assign(list.style, { display: 'block', overflow: 'hidden', height: '1px' });
      let frames = 0;
      const grow = () => {
        frames += 1;
        if (frames === 15) return Object.assign(list.style, { overflow: '', height: '' });
        list.style.height = frames * 5 + 'px';
        requestAnimationFrame(grow);
      };
      requestAnimationFrame(grow);
    };
  </script>`.replace('open.onclick', `document.getElementById('open').onclick`);
  await call('go', site.set('/sliding', page));
  await call('act', '{button}Open', 'click');
  const { elements, unsettled } = await look({ full: true });
  t.same(
    elements.map(({ locator }) => locator),
    ['{button}Open', '{button}First', '{button}Second'],
  );
  t.equal(unsettled, undefined);
  const spinner = `<div id=spinner>o</div><button onclick="this.textContent += '!'">Go</button><script>
    let turn = 0;
    const spin = () => { spinner.style.rotate = ++turn + 'deg'; requestAnimationFrame(spin); };
    spin();
  </script>`;
  await call('go', site.set('/spinning', spinner));
  await look({ full: true });
  const waits: (string | undefined)[] = [];
  for (let round = 0; round < 6; round++) {
    await call('act', `{button}Go${'!'.repeat(round)}`, 'click');
    waits.push((await look()).unsettled);
  }
  t.ok(waits.filter((unsettled) => unsettled !== undefined).length <= 1, waits.join());
});

t.test('look says when it gives up waiting', async (t) => {
  site.set('/never', () => undefined);
  await call('go', site.set('/asking', `<button onclick="fetch('/never')">Ask</button>`));
  await call('act', '{button}Ask', 'click');
  const seen = await look({ full: true });
  t.equal(seen.unsettled, '1 open request');
  t.match(renderLook(seen), 'still changing after 1 s: 1 open request');
  t.equal((await look()).unsettled, undefined, 'the next look does not wait again');
});

t.end();
