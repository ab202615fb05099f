// What does a look cost? Asked beside Playwright's ariaSnapshot on pages of five kinds, each in a browser of its own. And what does a model read of it, in tokens of o200k, beside that snapshot and those of
// @playwright/mcp and agent-browser, which run as processes of their own. Agent-browser does not follow frames in frames: what
// it is held against is what a control costs that it does show.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { getEncoding } from 'js-tiktoken';
import { renderLook } from '#troupe/agent-js/look/render.js';
import { AGENT_BROWSER, startAgentBrowser } from './support/agent-browser.mjs';
import * as lookPages from './support/look-pages.mjs';
import { percentile } from './support/percentiles.mjs';
import { PLAYWRIGHT_MCP, startPlaywrightMcp } from './support/playwright-mcp.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

/** Unchanged looks of a page. */
const REPEATS = 15;
const PEER_SNAPSHOTS = 3;
const AGENT = `agent-browser ${AGENT_BROWSER}`;
const MCP = `@playwright/mcp ${PLAYWRIGHT_MCP}`;
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
    targets.push(...(await comparePeers(browsers)));
    targets.push(...(await compareChanges(browsers)));
    return targets;
  } finally {
    await browsers.close();
  }
}

async function comparePage({ origin, agent, playwright }, name, rounds) {
  const url = `${origin}/${name}`;
  const times = { first: [], again: [], snapshot: [] };
  const context = () => callContext();
  const call = (method, ...args) => agent.module.calls[method](args, context());
  let seen = null;
  let snapshot = '';
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    await call('go', url);
    await playwright.run(openPeer, url);
    const timed = async (key, work) => {
      const startedAt = performance.now();
      const value = await work();
      if (round > 0) times[key].push(performance.now() - startedAt);
      return value;
    };
    const ours = async () => {
      seen = await timed('first', () => call('look', { full: true }));
      for (let nth = 0; nth < REPEATS; nth += 1) await timed('again', () => call('look', null, seen.id));
    };
    const theirs = async () => {
      const { value, ms } = await playwright.run((page) => page.locator('body').ariaSnapshot());
      snapshot = value;
      if (round > 0) times.snapshot.push(ms);
    };
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) await side();
  }
  printSamples(`${name}: first look`, times.first, 'ms');
  printSamples(`${name}: unchanged look`, times.again, 'ms');
  printSamples(`${name}: ariaSnapshot`, times.snapshot, 'ms');
  const read = [whole(seen), renderLook(seen), snapshot].map((text) => amount(tokens(text)));
  console.log(
    `  ${name}: ${seen.elements.length} controls; tokens: all of them ${read[0]}, as a model is shown ${read[1]}, ariaSnapshot ${read[2]}`,
  );
  const [first, again, peer] = Object.values(times).map((samples) => percentile(samples, 0.5));
  return [
    atMost(`look: ${name}, first, part of ariaSnapshot`, first / peer, 0.25),
    atMost(`look: ${name}, unchanged, part of ariaSnapshot`, again / peer, 0.25),
  ];
}

async function openPeer(page, url) {
  await page.goto(url);
  // The peer's script is in its page by then, as ours is.
  await page.evaluate('1');
}

/** Looks and snapshots of processes, at browsers of the same kind: a few of each, since tokens are what counts here. */
async function comparePeers(browsers) {
  const { origin, agent } = browsers;
  const ours = (method, ...args) => agent.module.calls[method](args, callContext());
  const mcp = await openMcp(browsers);
  const other = await startAgentBrowser((await browsers.lease()).cdpUrl, browsers.folder, browsers.closers);
  const targets = [];
  for (const name of Object.keys(PAGES)) {
    const url = `${origin}/${name}`;
    await Promise.all([ours('go', url), mcp.open(url), other.open(url)]);
    const seen = await ours('look', { full: true });
    const read = { ours: whole(seen) };
    for (const [peer, { snapshot }] of Object.entries({ [MCP]: mcp, [AGENT]: other })) {
      const samples = [];
      for (let nth = 0; nth < PEER_SNAPSHOTS; nth += 1) {
        const startedAt = performance.now();
        read[peer] = await snapshot();
        samples.push(performance.now() - startedAt);
      }
      printSamples(`${name}: ${peer}`, samples, 'ms');
    }
    const all = lookPages.CONTROLS[name];
    const found = { ours: seen.elements.length, [MCP]: shownIn(read[MCP], seen), [AGENT]: shownIn(read[AGENT], seen) };
    const told = Object.entries(read).map(([who, text]) => `${who} ${amount(tokens(text))} for ${amount(found[who])}`);
    console.log(`  ${name}: tokens of ${amount(all)} controls: ${told.join(', ')}`);
    const each = (who) => tokens(read[who]) / found[who];
    targets.push(atLeast(`look: ${name}, part of its controls found`, found.ours / all, 1));
    targets.push(
      atMost(`look: ${name}, tokens for a control, part of agent-browser's`, each('ours') / each(AGENT), 0.5),
    );
  }
  return targets;
}

/** Every line of a look, nothing counted in place of being shown. */
function whole(look) {
  return renderLook(look, { maxLines: Number.POSITIVE_INFINITY, maxRun: Number.POSITIVE_INFINITY });
}

/** How many of a look's controls another's text shows by their names, each as often as it is there. */
function shownIn(text, { elements }) {
  const wanted = new Map();
  for (const { name } of elements) wanted.set(name, (wanted.get(name) ?? 0) + 1);
  let shown = 0;
  for (const [name, times] of wanted) shown += Math.min(times, text.split(`"${name}"`).length - 1);
  return shown;
}

function amount(count) {
  return count.toLocaleString('en-US');
}

async function openMcp({ lease, folder, closers }) {
  const url = await startPlaywrightMcp((await lease()).cdpUrl, folder, closers);
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  closers.push(() => client.close());
  const call = async (name, given) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const text = content.map((part) => part.text ?? '').join('\n');
    if (isError) throw new Error(`${name} failed: ${text}`);
    return text;
  };
  return {
    open: (address) => call('browser_navigate', { url: address }),
    snapshot: () => call('browser_snapshot', {}),
  };
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
