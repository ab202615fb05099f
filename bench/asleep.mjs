// What do pages cost the service that read nothing for a minute, as those of a closed laptop do, and what have they missed
// when they read again? Ten of them, beside one that reads, on a session that talks and whose page moves.
import { setTimeout as pause } from 'node:timers/promises';
import { openSite } from './support/open-site.mjs';
import { atMost } from './support/print.mjs';
import { anonymousBytes } from './support/process-holdings.mjs';
import { startServiceProcess } from './support/service-process.mjs';
import { WatchingPage } from './support/watching-page.mjs';

const ASLEEP = 10;
const SECONDS = 60;
const WARM_UP_SECONDS = 10;
const LINES_A_SECOND = 100;
/** More than the system's own buffers take in a minute, and then what one page may leave unread. */
const LINE_CHARS = 6_000;
const LOOK_MS = 250;
const MEGABYTE = 1024 ** 2;
const PAGE = `<title>moves</title><h1>0</h1><script>
let n = 0; setInterval(() => { document.querySelector('h1').textContent = ++n; }, 100);</script>`;

/** @param rounds seconds that they sleep */
export async function run({ rounds = SECONDS } = {}) {
  const site = await openSite(PAGE);
  const service = await startServiceProcess({ maxSessions: 1, warmSessions: 0 });
  try {
    const id = await service.create();
    await service.script(id, `agent.go('${site.origin}'); 1`);
    const awake = await WatchingPage.open(service.url, id);
    await talk(service, id, WARM_UP_SECONDS);
    const before = anonymousBytes(service.pid);
    const pages = await Promise.all(Array.from({ length: ASLEEP }, () => WatchingPage.open(service.url, id)));
    for (const page of pages) page.sleep();
    let most = before;
    const looking = setInterval(() => {
      most = Math.max(most, anonymousBytes(service.pid));
    }, LOOK_MS);
    await talk(service, id, rounds);
    await service.script(id, `console.log('done')`);
    clearInterval(looking);
    const after = anonymousBytes(service.pid);
    await awake.until((page) => page.saw('done'));
    const from = performance.now();
    await Promise.all(pages.map((page) => page.wake((one) => one.saw('done'))));
    const lateMs = performance.now() - from;
    const wrong = pages.filter((page) => page.lines.join() !== awake.lines.join());
    console.log(
      `  ${awake.lines.length} lines of ${LINE_CHARS} characters, ${awake.frames} pictures to the page that reads`,
    );
    const cut = pages.filter((page) => page.cut).length;
    console.log(
      `  ${cut} of ${ASLEEP} were let go of; all had all ${(lateMs / 1_000).toFixed(1)} s after they read again`,
    );
    await Promise.all([awake, ...pages].map((page) => page.close()));
    return [
      atMost(`asleep: MB that the service held for ${ASLEEP} pages, at most`, (most - before) / MEGABYTE, 8 * ASLEEP),
      atMost('asleep: the same at the end, they still asleep', (after - before) / MEGABYTE, 8 * ASLEEP),
      atMost('asleep: pages that miss or repeat a line when they read again', wrong.length, 0),
    ];
  } finally {
    await service.stop();
    await site.close();
  }
}

/** One script for each second, so that none is long. */
async function talk(service, id, seconds) {
  for (let second = 0; second < seconds; second += 1) {
    const from = performance.now();
    const line = `console.log('x'.repeat(${LINE_CHARS})); agent.wait(5)`;
    await service.script(id, `for (let n = 0; n < ${LINES_A_SECOND}; n += 1) { ${line} }`);
    await pause(Math.max(0, 1_000 - (performance.now() - from)));
  }
}
