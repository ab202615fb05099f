// What does an action cost, and does it always arrive? Click, input and select beside Playwright's own on the same page
// in turns; then a page of hostile elements, where each try must reach its element and no other.
import { HOSTILE_CASES, HOSTILE_PAGE } from './support/hostile-page.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

/** Actions in one script; a sample is one of so many. */
const BLOCK = 30;
/** Playwright waits frames, so its tries take longer; fewer of them say as much about it. */
const PEER_TRIES = 40;
const PEER_GIVES_UP_MS = 1_000;
const HOSTILE_MS = 150_000;

const FORM = `<!doctype html><title>Form</title><h1>Order</h1>
<form onsubmit="return false"><label>Name <input id=name></label><label>City <input id=city></label>
<label>Size <select id=size><option>Small<option>Medium<option>Large</select></label>
<label><input type=checkbox id=gift> Gift</label><button id=add type=button>Add</button><button>Order</button></form>
<ul id=list></ul><script>let count = 0; add.onclick = () => { list.textContent = ++count + ' added'; };</script>`;

/** The same actions by either, in turns from `first` to before `end`: `ours` as a line of a script, `peer` in Playwright's thread. */
const ACTIONS = {
  click: {
    ours: `agent.act('{button}Add', 'click')`,
    peer: async (page, first, end) => {
      for (let turn = first; turn < end; turn += 1)
        await page.getByRole('button', { name: 'Add', exact: true }).click();
    },
  },
  input: {
    ours: `agent.act('{input}Name', 'input', 'Ada Lovelace ' + turn)`,
    peer: async (page, first, end) => {
      for (let turn = first; turn < end; turn += 1)
        await page.getByRole('textbox', { name: 'Name' }).fill(`Ada Lovelace ${turn}`);
    },
  },
  select: {
    ours: `agent.act('{select}Size', 'select', turn % 2 ? 'Small' : 'Large')`,
    peer: async (page, first, end) => {
      for (let turn = first; turn < end; turn += 1)
        await page.getByRole('combobox', { name: 'Size' }).selectOption({ label: turn % 2 ? 'Small' : 'Large' });
    },
  },
};

export async function run({ rounds = 40, tries = 1_000 } = {}) {
  const browsers = await openTwoBrowsers({ '/form': FORM, '/hostile': HOSTILE_PAGE });
  try {
    const { origin, run: script, playwright } = browsers;
    await script(`agent.go('${origin}/form')`);
    await playwright.run((page, url) => page.goto(url).then(() => null), `${origin}/form`);
    const targets = [];
    printHeader();
    for (const [name, { ours, peer }] of Object.entries(ACTIONS)) {
      const sides = {
        ours: async (first) => {
          const startedAt = performance.now();
          await script(`for (let turn = ${first}; turn < ${first + BLOCK}; turn++) ${ours}`);
          return performance.now() - startedAt;
        },
        peer: async (first) => (await playwright.run(peer, first, first + BLOCK)).ms,
      };
      const samples = { ours: [], peer: [] };
      // The first round only warms up.
      for (let round = 0; round <= rounds; round += 1) {
        for (const side of round % 2 === 0 ? ['ours', 'peer'] : ['peer', 'ours']) {
          const ms = await sides[side](round * BLOCK);
          if (round > 0) samples[side].push(ms / BLOCK);
        }
      }
      printSamples(`${name}: agent.act`, samples.ours, 'ms');
      printSamples(`${name}: Playwright`, samples.peer, 'ms');
      const ratio = percentile(samples.ours, 0.5) / percentile(samples.peer, 0.5);
      targets.push(atMost(`act: ${name} p50, times Playwright`, ratio, 0.25));
    }
    targets.push(...(await hostile(browsers, tries)));
    return targets;
  } finally {
    await browsers.close();
  }
}

/**
 * Counts tries that were lost (no press arrived), and presses that arrived elsewhere. Most of a try is waiting, so each case has
 * a browser of its own and all go on at once.
 */
async function hostile({ origin, scripted, playwright }, tries) {
  const mine = await Promise.all(
    HOSTILE_CASES.map(async (kind) => {
      const { run: script } = await scripted(kind);
      await script(`agent.go('${origin}/hostile'); agent.page('begin("${kind}"); null')`);
      return await script(
        `let failed = 0;
        for (let i = 0; i < ${tries}; i++) try { agent.act('{button}Target', 'click') } catch { failed++ }
        ({ failed, ...agent.page('tally()') })`,
        HOSTILE_MS,
      );
    }),
  );
  let ours = 0;
  let peerRate = 1;
  for (const [at, kind] of HOSTILE_CASES.entries()) {
    const { value: theirs } = await playwright.run(
      hostilePeer,
      `${origin}/hostile`,
      kind,
      PEER_TRIES,
      PEER_GIVES_UP_MS,
    );
    const own = mine[at];
    console.log(`  ${kind.padEnd(12)} ${say('agent.act', tries, own)}   ${say('Playwright', PEER_TRIES, theirs)}`);
    ours += Math.abs(tries - own.right) + own.wrong;
    peerRate = Math.min(peerRate, (theirs.right - theirs.wrong) / PEER_TRIES);
  }
  const all = HOSTILE_CASES.length * tries;
  return [
    atMost('act: hostile tries lost or on the wrong element', ours, 0),
    atLeast('act: reliability, times Playwright at its worst case', (all - ours) / all / Math.max(peerRate, 0.01), 1),
  ];
}

async function hostilePeer(page, url, kind, tries, timeout) {
  if (page.url() !== url) await page.goto(url);
  await page.evaluate((it) => globalThis.begin(it), kind);
  let failed = 0;
  for (let i = 0; i < tries; i += 1) {
    await page
      .getByRole('button', { name: 'Target', exact: true })
      .click({ timeout })
      .catch(() => {
        failed += 1;
      });
  }
  return { failed, ...(await page.evaluate(() => globalThis.tally())) };
}

function say(who, tries, { right, wrong, failed }) {
  return `${who}: ${right}/${tries} right, ${wrong} wrong, ${failed} gave up`;
}
