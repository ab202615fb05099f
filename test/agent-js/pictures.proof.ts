import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { BrowserLease } from '#troupe/containers/driver.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { bounds, openFolder, wish } from '../containers/driver-fixture.js';
import { openAgent, openReadersBrowser } from '../support/agent-fixture.js';
import { type CorpusPage, openCorpus } from '../support/corpus.js';
import { dockerFixture, skipWithoutDocker } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { secondImage } from '../support/second-image.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

const PAGES = 30;
const RUNS = 10;
const PLANTED = 30;
const SITE = { flowRun: 1, flow: 'all/pages' };
/** Everything of a page may take long on a machine that has other things to do. */
const ACT_MS = 20_000;

/** Where the pictures are compared: `TROUPE_SETTING`. The baselines are made by the first image, or without a load. */
const SETTINGS: { readonly [name in string]?: { readonly skip: string | false; open(t: Test): Promise<Opened> } } = {
  'every processor': { skip: false, open: (t) => onThisMachine(t, async () => undefined) },
  'one processor': { skip: skipWithout('taskset'), open: (t) => onThisMachine(t, async () => useOneProcessor()) },
  load: { skip: false, open: (t) => onThisMachine(t, async () => keepBusy(t)) },
  'container, 1 processor': { skip: skipWithoutDocker, open: (t) => inContainers(t, 1, false) },
  'container, 2 processors': { skip: skipWithoutDocker, open: (t) => inContainers(t, 2, false) },
  'another image, 1 processor': { skip: skipWithoutDocker, open: (t) => inContainers(t, 1, true) },
  'another image, 2 processors': { skip: skipWithoutDocker, open: (t) => inContainers(t, 2, true) },
};

interface Opened {
  readonly first: BrowserLease;
  /** The browser whose pictures are compared with those of the first. */
  second(): Promise<BrowserLease>;
}

async function onThisMachine(t: Test, burden: () => Promise<void>): Promise<Opened> {
  const first = await openReadersBrowser(t);
  return {
    first,
    second: async () => {
      await burden();
      return openReadersBrowser(t);
    },
  };
}

/** From here on this process, and the browsers that it starts, have one processor. */
function useOneProcessor(): void {
  execFileSync('taskset', ['-a', '-p', '-c', '0', String(process.pid)]);
}

/** Twice as many threads that never rest as there are processors. */
function keepBusy(t: Test): void {
  for (let n = 0; n < availableParallelism() * 2; n += 1) {
    const worker = new Worker('for (;;);', { eval: true });
    t.teardown(() => worker.terminate());
  }
}

async function inContainers(t: Test, cpus: number, ofSecondImage: boolean): Promise<Opened> {
  const made = await dockerFixture(t, { cpus: 2 });
  const lease = async (from: typeof made.driver, name: string) => {
    const leased = await from.lease(wish(name, { viewport: { width: 1280, height: 720 } }), bounds());
    t.teardown(() => leased.release());
    return leased;
  };
  return {
    first: await lease(made.driver, 'first'),
    second: async () => {
      const compared = await dockerFixture(t, { cpus });
      return lease(ofSecondImage ? await compared.another((await secondImage()).id) : compared.driver, 'second');
    },
  };
}

/** Evenly from the corpus: pages with their own scripts and those of component sets, dialogs, frames and drawings. */
function chosenPages(corpus: readonly CorpusPage[]): readonly CorpusPage[] {
  return Array.from({ length: PAGES }, (_, n) => corpus[Math.floor((n * corpus.length) / PAGES)]).flatMap(
    (page) => page ?? [],
  );
}

/** Dots of one pixel each over whatever the page shows. */
function dots(pixels: number, left: number, top: number): string {
  return `for (let n = 0; n < ${pixels}; n++) {
    const dot = document.createElement('i');
    dot.popover = 'manual';
    dot.style.cssText = 'all:initial;position:fixed;inset:auto;width:1px;height:1px;overflow:hidden;background:#f0f;left:' + (${left} + n % 4 * 2) + 'px;top:' + (${top} + Math.floor(n / 4) * 2) + 'px';
    document.documentElement.append(dot);
    dot.showPopover();
  } null`;
}

const wanted = process.env.TROUPE_SETTING ?? 'every processor';
const setting = SETTINGS[wanted];
if (setting === undefined) throw new Error(`TROUPE_SETTING is one of ${Object.keys(SETTINGS).join(', ')}`);

t.test(
  `Pictures of ${PAGES} pages are the same ${RUNS} times, and ${PLANTED} planted changes are found: ${wanted}`,
  { skip: setting.skip, timeout: 3_500_000 },
  async (t) => {
    const pages = chosenPages(await openCorpus(t));
    t.equal(new Set(pages).size, PAGES);
    const ports = [...new Set(pages.map(({ url }) => Number(new URL(url).port)))];
    const flowsDir = openFolder(t);
    mkdirSync(join(flowsDir, 'all'));
    const { first, second } = await setting.open(t);
    first.permit({ forward: ports });
    const writer = await openAgent(t, first, { flowsDir, updating: true, actMs: ACT_MS });
    for (const { name, url } of pages) {
      await writer.call('go', url);
      await writer.callFrom(SITE, 'expectScreenshot', name);
    }
    const compared = await second();
    compared.permit({ forward: ports });
    const reader = await openAgent(t, compared, { flowsDir, updating: false, actMs: ACT_MS });
    const differences: string[] = [];
    for (let run = 1; run <= RUNS; run += 1) {
      for (const { name, url } of pages) {
        await reader.call('go', url);
        await reader.callFrom(SITE, 'expectScreenshot', name).catch((error: unknown) => {
          differences.push(`run ${run}, ${name}: ${encodeError(error).error}`);
        });
      }
    }
    t.same(differences, [], `none of ${RUNS * PAGES} pictures differs`);

    let state = SEED;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return state % below;
    };
    const unseen: string[] = [];
    for (let n = 0; n < PLANTED; n += 1) {
      const { name, url } = pages[n % PAGES] ?? { name: '', url: '' };
      const [pixels, left, top] = [1 + (n % 10), random(1_260), random(700)];
      await reader.call('go', url);
      await reader.call('page', dots(pixels, left, top));
      const found = await reader.callFrom(SITE, 'expectScreenshot', name, { timeout: 0 }).then(
        () => 0,
        (error: unknown) => encodeError(error).details?.pixels,
      );
      if (found !== pixels) unseen.push(`${pixels} pixels of ${name} at ${left}, ${top}: ${found} found`);
    }
    t.same(unseen, [], `all of ${PLANTED} changes are found, each to the pixel`);
    t.comment(`${wanted}: ${RUNS * PAGES} pictures alike, ${PLANTED} changes of 1 to 10 pixels found`);
  },
);
