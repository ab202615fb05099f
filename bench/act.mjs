// What does an action cost, and does it always arrive? Click, input and select beside Playwright's own on the same page
// in turns; a click and a check by name on a page of 1,500 controls; how much of such a page's thread a wait takes while its
// controls change; then a page of hostile elements, where each try must reach its element and no other.
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

/** Acts and checks by name of a page of 1,500 controls, in one script; a sample is one of so many. */
const NAMED_BLOCK = 10;
const NAMED_ROUNDS = 12;
/** How long a wait is watched that does not come about. */
const WAIT_MS = 3_000;

const NAMED = `<!doctype html><title>Rows</title>${Array.from(
  { length: 500 },
  (_, n) => `<div><button>Open ${n}</button> <label>Note ${n} <input></label> <a href="#${n}">Row ${n}</a></div>`,
).join('\n')}<script>
  let at = 0;
  document.addEventListener('click', () => { document.title = ++at + ' clicks'; });
  globalThis.change = () => setInterval(() => { document.querySelectorAll('button')[(at += 7) % 500].textContent = 'Open ' + at; }, 50);
  // How many turns the page's thread has to spare.
  globalThis.turns = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { globalThis.turns++; port2.postMessage(0); };
  globalThis.spare = () => port2.postMessage(0);
</script>`;

const BY_NAME = {
  click: {
    ours: "agent.act('{button}Open 250', 'click')",
    peer: async (page, times) => {
      for (let turn = 0; turn < times; turn += 1)
        await page.getByRole('button', { name: 'Open 250', exact: true }).click();
    },
  },
  check: {
    ours: "agent.expect('{button}Open 250').toBeVisible()",
    peer: async (page, times) => {
      for (let turn = 0; turn < times; turn += 1)
        await page.getByRole('button', { name: 'Open 250', exact: true }).waitFor();
    },
  },
};

export async function run({ rounds = 40, tries = 1_000 } = {}) {
  const browsers = await openTwoBrowsers({ '/form': FORM, '/hostile': HOSTILE_PAGE, '/named': NAMED });
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
    targets.push(...(await byName(browsers)));
    await waiting(browsers);
    targets.push(...(await hostile(browsers, tries)));
    return targets;
  } finally {
    await browsers.close();
  }
}

async function byName({ origin, run: script, playwright }) {
  await script(`agent.go('${origin}/named')`);
  await playwright.run((page, url) => page.goto(url).then(() => null), `${origin}/named`);
  const targets = [];
  for (const [name, { ours, peer }] of Object.entries(BY_NAME)) {
    const samples = { ours: [], peer: [] };
    for (let round = 0; round <= NAMED_ROUNDS; round += 1) {
      const startedAt = performance.now();
      await script(`for (let turn = 0; turn < ${NAMED_BLOCK}; turn++) ${ours}`);
      const ms = performance.now() - startedAt;
      const { ms: theirs } = await playwright.run(peer, NAMED_BLOCK);
      if (round === 0) continue;
      samples.ours.push(ms / NAMED_BLOCK);
      samples.peer.push(theirs / NAMED_BLOCK);
    }
    printSamples(`${name} by name, of 1,500 controls: agent`, samples.ours, 'ms');
    printSamples(`${name} by name, of 1,500 controls: getByRole`, samples.peer, 'ms');
    const ratio = percentile(samples.ours, 0.5) / percentile(samples.peer, 0.5);
    targets.push(atMost(`act: ${name} by name of 1,500 controls, times getByRole`, ratio, 0.5));
  }
  return targets;
}

/** Printed to be compared with another version's. */
async function waiting({ origin, run: script }) {
  const shares = [];
  for (let round = 0; round < 3; round += 1) {
    const [alone, beside] = await script(
      `agent.go('${origin}/named'); agent.page('change(); spare(); 0');
      const turns = (wait) => {
        const before = agent.page('turns');
        const from = agent.page('performance.now()');
        wait();
        return (agent.page('turns') - before) / (agent.page('performance.now()') - from);
      };
      [turns(() => agent.wait(${WAIT_MS})), turns(() => { try { agent.wait('{button}Never', { timeout: ${WAIT_MS} }) } catch {} })]`,
    );
    shares.push((1 - beside / alone) * 100);
  }
  printSamples('waiting while controls change: part of the page', shares, '%');
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
