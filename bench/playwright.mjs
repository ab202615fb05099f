// What does Playwright cost in a session: its first call, later ones beside the same calls by a Playwright of one's own on the
// same browser, and what a neighbour feels of five sessions that use it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { openSite } from './support/open-site.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const PAGE =
  '<title>page</title><button onclick="this.dataset.n = -~this.dataset.n">Go</button><input aria-label=Name>';
/** What a call does; the same words run in a script and here. */
const CALLS = {
  title: 'page.title()',
  textContent: "page.getByRole('button').textContent()",
  click: "page.getByRole('button').click()",
  fill: "page.getByLabel('Name').fill('tea')",
};
const CALLS_A_TURN = 40;
const TURN_MS = 1_500;
const USERS = 5;
const NEIGHBOUR_FLOW = "() => { agent.act('{button}Go', 'click'); agent.text('{button}Go'); };";

export async function run({ rounds = 3, part }) {
  const targets = [];
  if (part === undefined || part === 'calls') targets.push(...(await calls(rounds)));
  if (part === undefined || part === 'neighbours') targets.push(...(await neighbours(rounds)));
  return targets;
}

async function calls(rounds) {
  const site = await openSite(PAGE);
  const [first, second] = [[], []];
  const ours = Object.fromEntries(Object.keys(CALLS).map((name) => [name, []]));
  const theirs = Object.fromEntries(Object.keys(CALLS).map((name) => [name, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      // A service of its own each time: the first call of a service loads Playwright.
      const service = await benchService({ maxSessions: 3, forward: [site.port] }, { real: 3 });
      try {
        const ids = await service.live(3);
        for (const id of ids) await service.script(id, `agent.go('${site.origin}')`);
        first.push(await timed(() => service.script(ids[0], CALLS.title)));
        second.push(await timed(() => service.script(ids[1], CALLS.title)));
        const browser = await chromium.connectOverCDP(`${service.url}/sessions/${ids[2]}/cdp`);
        const [page] = browser.contexts()[0].pages();
        for (const [name, call] of Object.entries(CALLS)) {
          const direct = new Function('page', `return ${call}`);
          // One script with many calls: what a script costs has its own benchmark.
          const loop = `for (let i = 0; i < ${CALLS_A_TURN}; i += 1) ${call}`;
          await service.script(ids[0], loop);
          for (let i = 0; i < CALLS_A_TURN; i += 1) await direct(page);
          ours[name].push((await timed(() => service.script(ids[0], loop))) / CALLS_A_TURN);
          const theirTurn = await timed(async () => {
            for (let i = 0; i < CALLS_A_TURN; i += 1) await direct(page);
          });
          theirs[name].push(theirTurn / CALLS_A_TURN);
        }
        await browser.close();
      } finally {
        await service.stop();
      }
    }
  } finally {
    await site.close();
  }
  printHeader();
  printSamples('first call of a service', first, 'ms');
  printSamples('first call of a session', second, 'ms');
  const ratios = Object.keys(CALLS).map((name) => {
    printSamples(`${name}, in a script`, ours[name], 'ms');
    printSamples(`${name}, by Playwright`, theirs[name], 'ms');
    return atMost(
      `playwright: ${name}, times Playwright`,
      percentile(ours[name], 0.5) / percentile(theirs[name], 0.5),
      1.2,
    );
  });
  return [atMost('playwright: first call of a service, seconds', percentile(first, 0.5) / 1_000, 0.5), ...ratios];
}

/** What a neighbour does; the flow is a file of the service. */
const NEIGHBOUR = {
  '1+1': '1+1',
  act: "agent.act('{button}Go', 'click')",
  flow: "Flow.run('bench-neighbour')",
};

/** A session's work while others use `agent`, and while they use `page`: the same work with and without Playwright. */
async function neighbours(rounds) {
  const site = await openSite(PAGE);
  const service = await benchService({ maxSessions: USERS + 1, forward: [site.port] }, { real: USERS + 1 });
  const load = new HttpLoad();
  try {
    mkdirSync(join(service.home, 'flows'), { recursive: true });
    writeFileSync(join(service.home, 'flows', 'bench-neighbour.js'), NEIGHBOUR_FLOW);
    const [quiet, ...users] = await service.live(USERS + 1);
    for (const id of users) await service.script(id, `agent.go('${site.origin}'); page.title()`);
    await service.script(quiet, `agent.go('${site.origin}')`);
    const targets = [];
    printHeader();
    for (const [name, js] of Object.entries(NEIGHBOUR)) {
      const request = { port: service.port, path: `/sessions/${quiet}/proxy`, body: JSON.stringify({ js }) };
      const [beside, without] = [[], []];
      await load.run([request], TURN_MS);
      for (let round = 0; round < rounds; round += 1) {
        // Each first in every other round: the machine does not stay as it is.
        const turns = [
          [without, "agent.act('{button}Go', 'click')"],
          [beside, "page.getByRole('button').click()"],
        ];
        for (const [samples, use] of round % 2 === 0 ? turns : turns.toReversed()) {
          const stop = keepBusy(service, users, use);
          samples.push(...(await load.run([request], TURN_MS)).samples);
          await stop();
        }
      }
      printSamples(`${name} beside ${USERS} that use agent`, without, 'ms');
      printSamples(`${name} beside ${USERS} that use page`, beside, 'ms');
      const ratio = percentile(beside, 0.5) / percentile(without, 0.5);
      targets.push(atMost(`playwright: ${name} beside page, times beside agent`, ratio, 1.05));
    }
    return targets;
  } finally {
    await load.close();
    await service.stop();
    await site.close();
  }
}

/** Ten clicks a second in each: both libraries do the same work in the same time. */
function keepBusy(service, ids, js) {
  let goesOn = true;
  const clicking = ids.map(async (id) => {
    while (goesOn) {
      const pause = new Promise((resolve) => setTimeout(resolve, 100));
      await service.script(id, js);
      await pause;
    }
  });
  return async () => {
    goesOn = false;
    await Promise.all(clicking);
  };
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
