// What does an action cost, and does it always arrive? Click, input and select beside Playwright's own on the same page
// in turns; then a page of hostile elements, where each try must reach its element and no other.
import { HOSTILE_CASES, HOSTILE_PAGE } from './support/hostile-page.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

const BLOCK = 10;
/** Playwright waits frames, so its tries take longer; fewer of them say as much about it. */
const PEER_TRIES = 100;
const PEER_GIVES_UP_MS = 3_000;

const FORM = `<!doctype html><title>Form</title><h1>Order</h1>
<form onsubmit="return false"><label>Name <input id=name></label><label>City <input id=city></label>
<label>Size <select id=size><option>Small<option>Medium<option>Large</select></label>
<label><input type=checkbox id=gift> Gift</label><button id=add type=button>Add</button><button>Order</button></form>
<ul id=list></ul><script>let count = 0; add.onclick = () => { list.textContent = ++count + ' added'; };</script>`;

/** The same action by either: `ours` is a script, `peer` is given Playwright's page. */
const ACTIONS = {
  click: {
    ours: () => `agent.act('{button}Add', 'click')`,
    peer: (page) => page.getByRole('button', { name: 'Add', exact: true }).click(),
  },
  input: {
    ours: (turn) => `agent.act('{input}Name', 'input', 'Ada Lovelace ${turn}')`,
    peer: (page, turn) => page.getByRole('textbox', { name: 'Name' }).fill(`Ada Lovelace ${turn}`),
  },
  select: {
    ours: (turn) => `agent.act('{select}Size', 'select', '${turn % 2 ? 'Small' : 'Large'}')`,
    peer: (page, turn) =>
      page.getByRole('combobox', { name: 'Size' }).selectOption({ label: turn % 2 ? 'Small' : 'Large' }),
  },
};

export async function run({ rounds = 10, tries = 1_000 } = {}) {
  const { origin, run: script, page, close } = await openTwoBrowsers({ '/form': FORM, '/hostile': HOSTILE_PAGE });
  try {
    await script(`agent.go('${origin}/form')`);
    await page.goto(`${origin}/form`);
    const targets = [];
    printHeader();
    for (const [name, action] of Object.entries(ACTIONS)) {
      const samples = { ours: [], peer: [] };
      let turn = 0;
      // The first round only warms up.
      for (let round = 0; round <= rounds; round += 1) {
        for (const side of round % 2 === 0 ? ['ours', 'peer'] : ['peer', 'ours']) {
          for (let at = 0; at < BLOCK; at += 1) {
            turn += 1;
            const startedAt = performance.now();
            await (side === 'ours' ? script(action.ours(turn)) : action.peer(page, turn));
            if (round > 0) samples[side].push(performance.now() - startedAt);
          }
        }
      }
      printSamples(`${name}: agent.act`, samples.ours, 'ms');
      printSamples(`${name}: Playwright`, samples.peer, 'ms');
      const ratio = percentile(samples.ours, 0.5) / percentile(samples.peer, 0.5);
      targets.push(atMost(`act: ${name} p50, times Playwright`, ratio, 0.25));
    }
    targets.push(...(await hostile(origin, script, page, tries)));
    return targets;
  } finally {
    await close();
  }
}

/** Counts tries that were lost (no click arrived), and tries whose click arrived elsewhere. */
async function hostile(origin, script, page, tries) {
  await script(`agent.go('${origin}/hostile')`);
  await page.goto(`${origin}/hostile`);
  let ours = 0;
  let peerRate = 1;
  for (const kind of HOSTILE_CASES) {
    const mine = await script(
      `let failed = 0; for (let i = 0; i < ${tries}; i++) {
        agent.page('setUp("${kind}"); null');
        try { agent.act('{button}Target', 'click') } catch { failed++ }
      }
      ({ failed, ...agent.page('tally()') })`,
      600_000,
    );
    let failed = 0;
    for (let i = 0; i < PEER_TRIES; i += 1) {
      await page.evaluate((it) => globalThis.setUp(it), kind);
      await page
        .getByRole('button', { name: 'Target', exact: true })
        .click({ timeout: PEER_GIVES_UP_MS })
        .catch(() => {
          failed += 1;
        });
    }
    const theirs = { failed, ...(await page.evaluate(() => globalThis.tally())) };
    console.log(`  ${kind.padEnd(34)} ${say('agent.act', tries, mine)}   ${say('Playwright', PEER_TRIES, theirs)}`);
    ours += tries - mine.right + mine.wrong;
    peerRate = Math.min(peerRate, (theirs.right - theirs.wrong) / PEER_TRIES);
  }
  const all = HOSTILE_CASES.length * tries;
  return [
    atMost('act: hostile tries lost or on the wrong element', ours, 0),
    atLeast('act: reliability, times Playwright at its worst case', (all - ours) / all / Math.max(peerRate, 0.01), 1),
  ];
}

function say(who, tries, { right, wrong, failed }) {
  return `${who}: ${right}/${tries} right, ${wrong} wrong, ${failed} gave up`;
}
