import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases, sampled } from '../support/sampled.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look } = await openAgent(t, lease, { actMs: 500 });

/** Of one page's numbers, the uses that are tried. */
const ACTS = 20;
/** Of one page, the numbers whose elements are found out. */
const NUMBERS = 12;
const CASES = 10_000;
/** More than are needed where each page has numbers. */
const PAGES = Array.from({ length: 520 }, (_, seed) => seed + 1);
/** What is pressed says its number in the title, which comes back with the answer. */
const NOTHING = 'nothing';

/** Reproducible: the same seed, the same page and the same acts. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** What a document of a random page does with a press: the number of what was pressed goes to the outermost title. */
const LISTENER = `document.addEventListener('click', (event) => {
  event.preventDefault();
  const hit = event.composedPath().find((one) => one.dataset?.n !== undefined);
  if (hit !== undefined) top.document.title = top.document.title === '${NOTHING}' ? hit.dataset.n : top.document.title + ' ' + hit.dataset.n;
});`;

/** Boxes that scroll or cut, shadow roots and frames, in one another, with buttons of few names; each has a number of its own. */
function randomPage(pick: (below: number) => number): string {
  let next = 0;
  const button = (): string => {
    const tag = ['button', 'a href="#"', 'span role=button tabindex=0'][pick(3)] ?? 'button';
    const name = ['Save', 'Delete', '+', ''][pick(4)];
    const row = ['', '', 'Mail ', 'News '][pick(4)];
    return `<div>${row}<${tag} data-n=${next++} style="display:inline-block;min-width:20px;min-height:14px">${name}</${tag.split(' ')[0]}></div>`;
  };
  const box = (depth: number): string => {
    const kind = ['shadow', 'frame', 'box', 'box', 'box', 'box'][pick(6)];
    const parts = Array.from({ length: 2 + pick(5) }, () =>
      depth < 3 && pick(3) === 0 ? box(depth + 1) : button(),
    ).join('');
    const overflow = ['auto', 'hidden', 'visible', 'scroll', 'clip'][pick(5)];
    const height = 30 + pick(120);
    if (kind === 'frame' && depth > 0) {
      const inner = `<body>${parts}<script>${LISTENER}</script>`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      return `<iframe style="display:block;height:${height}px" srcdoc="${inner}"></iframe>`;
    }
    const content = kind === 'shadow' ? `<template shadowrootmode=open>${parts}</template>` : parts;
    return `<div class=box style="overflow:${overflow};height:${overflow === 'visible' ? 'auto' : `${height}px`}">${content}</div>`;
  };
  const boxes = Array.from({ length: 2 + pick(3) }, () => box(0)).join(`<div style="height:${pick(900)}px"></div>`);
  return `<title>${NOTHING}</title>${boxes}<script>${LISTENER}
    function deep(root, selector) {
      const inner = [...root.querySelectorAll('*')].flatMap((one) => one.shadowRoot ?? one.contentDocument ?? []);
      return [...root.querySelectorAll(selector), ...inner.flatMap((one) => deep(one, selector))];
    }
  </script>`;
}

/** Something that happens between a look and the use of its numbers. */
function disturbance(pick: (below: number) => number): string {
  const any = `boxes[${pick(1_000)} % boxes.length]`;
  const inside = `(${any}.shadowRoot ?? ${any})`;
  const some = `buttons[${pick(1_000)} % buttons.length]`;
  const what = [
    `${any}.scrollTop = ${pick(400)}`,
    `scrollTo(0, ${pick(2_000)})`,
    `${inside}.prepend(added('button', 'Save'))`,
    `${inside}.append(added('a', '+'))`,
    `${some}.remove()`,
    `${inside}.append(...${inside}.children)`,
    `${some}.textContent = 'Other'`,
    `${some}.before(added('button', 'Delete'))`,
    `${some}.replaceWith(Object.assign(${some}.cloneNode(true)))`,
  ][pick(9)];
  return `{ const boxes = deep(document, '.box'), buttons = deep(document, '[data-n]');
    const added = (tag, text) => { const one = document.createElement(tag); one.dataset.n = -1; one.href = '#'; one.textContent = text; return one; };
    try { ${what} } catch {} document.title = '${NOTHING}'; } 0`;
}

/** An act without an error by what it pressed, or the error's code. */
async function press(locator: string): Promise<{ readonly code: string | null; readonly title: string }> {
  try {
    const { title } = (await call('act', locator, 'click')) as { title: string };
    return { code: null, title };
  } catch (error) {
    return { code: encodeError(error).code, title: String(await call('page', 'document.title')) };
  }
}

t.test('a number copied from a look is pressed where the look saw it, or refused by name', async (t) => {
  let wrong = 0;
  let done = 0;
  let cases = 0;
  const refused = new Map<string, number>();
  for (const seed of sampled(PAGES, { name: 'numbers', count: 3 })) {
    if (cases >= CASES) break;
    const pick = random(seed);
    await call('go', site.set('/random', randomPage(pick)));
    const { elements } = await look({ full: true });
    const numbered = elements.filter(({ locator }) => /^\{[^}]+:\d+\}/.test(locator));
    // Which element is which is found out by pressing it on a page that nothing disturbs.
    const own = new Map<string, string>();
    for (const { locator } of numbered.slice(0, NUMBERS)) {
      await call('page', `document.title = '${NOTHING}'; 0`);
      const { code, title } = await press(locator);
      if (code === null && /^\d+$/.test(title)) own.set(locator, title);
    }
    // Those of one name are numbered in the order of the document, as the page's own numbers are.
    const ofOneName = new Map<string, number[]>();
    for (const [locator, n] of own) {
      const name = locator.replace(/:\d+\}/, '}');
      ofOneName.set(name, [...(ofOneName.get(name) ?? []), Number(n)]);
    }
    for (const [name, numbers] of ofOneName) {
      const inOrder = [...new Set(numbers)].sort((left, right) => left - right);
      t.same(numbers, inOrder, `seed ${seed}: ${name}`);
    }
    const known = [...own];
    if (known.length === 0) continue;
    await call('go', 'about:blank');
    await call('go', `${site.origin}/random`);
    await look({ full: true });
    for (let act = 0; act < ACTS; act++) {
      await call('page', disturbance(pick));
      const [locator, n] = known[pick(known.length)] ?? ['', ''];
      const { code, title } = await press(locator);
      cases += 1;
      if (title !== (code === null ? n : NOTHING)) {
        wrong += 1;
        t.comment(`seed ${seed}, act ${act}: ${locator} is ${n}, pressed ${title} (${code})`);
      }
      if (code === null) done += 1;
      else refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }
  t.equal(wrong, 0);
  t.ok(done > 0, `${done} pressed`);
  t.comment(`${cases} cases, ${done} pressed, refused: ${JSON.stringify([...refused])}`);
  if (hasAllCases) t.ok(cases >= CASES, `${cases} cases`);
  t.strictSame(
    [...refused.keys()].filter((code) => !['LOCATOR_STALE', 'ACTION_FAILED'].includes(code)),
    [],
  );
});
