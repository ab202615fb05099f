import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease, { actMs: 1_500 });

/** Acts on each page. */
const ACTS = 10;
const PAGES = Array.from({ length: 1_000 }, (_, seed) => seed + 1);

/** Reproducible: the same seed, the same page and the same acts. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** Boxes that scroll or cut, in one another, with buttons of few names; each button has a number of its own. */
function randomPage(pick: (below: number) => number): string {
  let next = 0;
  const button = (): string => {
    const tag = ['button', 'a href="#"', 'span role=button tabindex=0'][pick(3)] ?? 'button';
    const name = ['Save', 'Delete', '+', ''][pick(4)];
    return `<div><${tag} data-n=${next++} style="display:inline-block;min-width:20px;min-height:14px">${name}</${tag.split(' ')[0]}></div>`;
  };
  const box = (depth: number): string => {
    const parts = Array.from({ length: 2 + pick(5) }, () => (depth < 3 && pick(3) === 0 ? box(depth + 1) : button()));
    const overflow = ['auto', 'hidden', 'visible', 'scroll', 'clip'][pick(5)];
    return `<div class=box style="overflow:${overflow};height:${overflow === 'visible' ? 'auto' : `${30 + pick(120)}px`}">${parts.join('')}</div>`;
  };
  const boxes = Array.from({ length: 2 + pick(3) }, () => box(0)).join(`<div style="height:${pick(900)}px"></div>`);
  return `<title>Random</title>${boxes}<script>
    var hits = [];
    document.addEventListener('click', (event) => {
      event.preventDefault();
      const hit = event.target.closest('[data-n]');
      if (hit) hits.push(Number(hit.dataset.n));
    });
  </script>`;
}

/** Something that happens between a look and the use of its numbers. */
function disturbance(pick: (below: number) => number): string {
  const any = `boxes[${pick(1_000)} % boxes.length]`;
  const what = [
    `${any}.scrollTop = ${pick(400)}`,
    `scrollTo(0, ${pick(2_000)})`,
    `${any}.insertAdjacentHTML('afterbegin', '<div><button data-n=-1>Save</button></div>')`,
    `${any}.insertAdjacentHTML('beforeend', '<div><span role=button tabindex=0 data-n=-1>+</span></div>')`,
    `buttons[${pick(1_000)} % buttons.length]?.remove()`,
    `${any}.append(...${any}.children)`,
  ][pick(6)];
  return `{ const boxes = document.querySelectorAll('.box'), buttons = document.querySelectorAll('[data-n]'); try { ${what} } catch {} } 0`;
}

t.test('a number copied from a look is pressed where the look saw it, or refused by name', async (t) => {
  let wrong = 0;
  let done = 0;
  const refused = new Map<string, number>();
  for (const seed of sampled(PAGES, { proof: 'numbers', name: 'numbers', count: 3 })) {
    const pick = random(seed);
    await call('go', site.set('/random', randomPage(pick)));
    const { elements } = await look({ full: true });
    const numbered = elements.filter(({ locator }) => /^\{[^}]+:\d+\}/.test(locator));
    if (numbered.length === 0) continue;
    // Which element is which is found out by pressing it on a page that nothing disturbs.
    const own = new Map<string, number>();
    for (const { locator } of numbered.slice(0, 12)) {
      await call('page', 'hits.length = 0; 0');
      await call('act', locator, 'click').catch(() => undefined);
      const hits = (await call('page', 'hits')) as number[];
      if (hits.length === 1) own.set(locator, Number(hits[0]));
    }
    // Those of one name are numbered in the order of the document, as the page's own numbers are.
    const ofOneName = new Map<string, [string, number][]>();
    for (const one of own) {
      const name = one[0].replace(/:\d+\}/, '}');
      ofOneName.set(name, [...(ofOneName.get(name) ?? []), one]);
    }
    for (const [name, group] of ofOneName) {
      const numbers = group.map(([, n]) => n);
      t.same(
        numbers,
        [...new Set(numbers)].sort((left, right) => left - right),
        `seed ${seed}: ${name}`,
      );
    }
    await call('go', 'about:blank');
    await call('go', `${site.origin}/random`);
    await look({ full: true });
    const known = [...own];
    for (let act = 0; act < ACTS && known.length > 0; act++) {
      await call('page', disturbance(pick));
      const [locator, n] = known[pick(known.length)] ?? ['', -2];
      await call('page', 'hits.length = 0; 0');
      const code = await call('act', locator, 'click').then(
        () => null,
        (error: unknown) => encodeError(error).code,
      );
      const hits = (await call('page', 'hits')) as number[];
      if (code === null ? hits.join() !== String(n) : hits.length > 0) {
        wrong += 1;
        t.comment(`seed ${seed}, act ${act}: ${locator} is ${n}, pressed ${hits.join()} (${code})`);
      }
      if (code === null) done += 1;
      else refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }
  t.equal(wrong, 0);
  t.ok(done > 0, `${done} pressed`);
  t.comment(`${done} pressed, refused: ${JSON.stringify([...refused])}`);
  t.strictSame(
    [...refused.keys()].filter((code) => !['LOCATOR_STALE', 'ACTION_FAILED'].includes(code)),
    [],
  );
});
