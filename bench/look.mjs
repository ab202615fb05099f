// What does a look cost? Asked beside Playwright's ariaSnapshot on pages of five kinds, each in a browser of its own; and beside
// a bare evaluation in the same page. And what does a model read of it, in tokens of o200k, beside that snapshot.
import { getEncoding } from 'js-tiktoken';
import { renderLook } from '#troupe/agent-js/look/render.js';
import * as lookPages from './support/look-pages.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

/** Where Playwright's snapshot takes longer, a look is held against it; below, against a bare evaluation. */
const SLOW_MS = 40;
const REPEATS = 3;
const encoding = getEncoding('o200k_base');
const tokens = (text) => encoding.encode(text).length;

const frame = (html) =>
  `<iframe width=700 height=400 srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
const PAGES = {
  form: lookPages.form,
  frames: lookPages.frames(frame),
  grid: lookPages.grid,
  controls: lookPages.controls,
  article: lookPages.article,
};

export async function run({ rounds = 8 } = {}) {
  const served = Object.fromEntries(Object.entries(PAGES).map(([name, html]) => [`/${name}`, html]));
  const browsers = await openTwoBrowsers(served);
  try {
    const targets = [];
    printHeader();
    for (const name of Object.keys(PAGES)) targets.push(...(await comparePage(browsers, name, rounds)));
    targets.push(...(await compareChanges(browsers)));
    return targets;
  } finally {
    await browsers.close();
  }
}

async function comparePage({ origin, agent, page }, name, rounds) {
  const url = `${origin}/${name}`;
  const times = { first: [], again: [], bare: [], snapshot: [] };
  const context = () => callContext();
  const call = (method, ...args) => agent.module.calls[method](args, context());
  let seen = null;
  let snapshot = '';
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    await call('go', url);
    await page.goto(url);
    // The peer's script is in its page by then, as ours is.
    await page.evaluate('1');
    const timed = async (key, work) => {
      const startedAt = performance.now();
      const value = await work();
      if (round > 0) times[key].push(performance.now() - startedAt);
      return value;
    };
    const ours = async () => {
      seen = await timed('first', () => call('look', { full: true }));
      for (let nth = 0; nth < REPEATS; nth += 1) {
        await timed('again', () => call('look', null, seen.id));
        await timed('bare', () => call('page', '1'));
      }
    };
    const theirs = async () => {
      snapshot = await timed('snapshot', () => page.locator('body').ariaSnapshot());
    };
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) await side();
  }
  printSamples(`${name}: first look`, times.first, 'ms');
  printSamples(`${name}: unchanged look`, times.again, 'ms');
  printSamples(`${name}: bare evaluation`, times.bare, 'ms');
  printSamples(`${name}: ariaSnapshot`, times.snapshot, 'ms');
  const everything = renderLook(seen, { maxLines: Number.POSITIVE_INFINITY, maxRun: Number.POSITIVE_INFINITY });
  const shown = renderLook(seen);
  const read = [tokens(everything), tokens(shown), tokens(snapshot)].map((count) => count.toLocaleString('en-US'));
  console.log(
    `  ${name}: ${seen.elements.length} controls; tokens: all of them ${read[0]}, as a model is shown ${read[1]}, ariaSnapshot ${read[2]}`,
  );
  const [first, again, bare, peer] = Object.values(times).map((samples) => percentile(samples, 0.5));
  if (peer <= SLOW_MS) return [atMost(`look: ${name}, unchanged, times a bare evaluation`, again / bare, 1.5)];
  return [
    atMost(`look: ${name}, first, part of ariaSnapshot`, first / peer, 0.25),
    atMost(`look: ${name}, unchanged, part of ariaSnapshot`, again / peer, 0.1),
  ];
}

/** What a model reads when nothing has changed, and when one button has come to 1,500 controls. */
async function compareChanges({ origin, agent }) {
  const call = (method, ...args) => agent.module.calls[method](args, callContext());
  await call('go', `${origin}/controls`);
  const { url, title } = await call('look', { full: true });
  const known = { url, title };
  const rendered = async () => {
    const { elements, diff } = await call('look', null);
    const added = diff.added.map((index) => elements[index]);
    const unchanged = elements.length - diff.added.length - diff.changed.length;
    return tokens(renderLook({ ...known, ...diff, diff: true, added, unchanged }, { known }));
  };
  const quiet = await rendered();
  await call('page', `document.body.insertAdjacentHTML('afterbegin', '<button>Place the order</button>'); 0`);
  const one = await rendered();
  return [
    atMost('look: tokens of an unchanged page of 1,500 controls', quiet, 8),
    atMost('look: tokens of one button added to 1,500 controls', one, 40),
  ];
}

function callContext() {
  const deadline = performance.now() + 60_000;
  const site = { kind: 'script', flow: null, line: 1, column: 1 };
  return { signal: new AbortController().signal, remainingMs: () => deadline - performance.now(), site };
}
