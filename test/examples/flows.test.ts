import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '#troupe/config.js';
import { SessionRecord } from '#troupe/protocol/session.js';
import { type Service, startService } from '#troupe/service.js';
import { type Shop, startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const FLOWS = ['login', 'search', 'buy', 'checkout-validation'];

/** Changes of the shop, and the place where each of them breaks the flow that buys. */
const LAYOUTS = [
  { layout: 'b', flow: 'search', text: "agent.act('{a}Search'" },
  { layout: 'wrap', flow: 'search', text: "agent.act('{a}Search'" },
  { layout: 'rename', flow: 'buy', text: 'Add to cart' },
  { layout: 'split', flow: 'buy', text: '{^input}Express' },
];

interface Stage {
  readonly service: Service;
  readonly shop: Shop;
}

/** A service whose flows are the examples, and the shop that they are for. */
async function openStage(t: Test): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-examples-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  // Browsers that run as another user keep their profiles below it.
  await chmod(home, 0o755);
  await cp('examples/flows', join(home, 'flows', 'examples'), { recursive: true });
  // What a changed shop does not have is waited for each time.
  await writeFile(join(home, 'troupe.json'), JSON.stringify({ actTimeout: 3, warmSessions: 0 }));
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: '0.0.0', log: (line) => t.comment(line) });
  t.teardown(() => service.stop({ drainMs: 0 }));
  return { service, shop };
}

async function run({ service, shop }: Stage, flow: string, args: Record<string, string> = {}): Promise<SessionRecord> {
  const response = await fetch(`${service.url}/api/sessions/run`, {
    method: 'POST',
    body: JSON.stringify({
      prompt: `the example ${flow}`,
      flowFiles: [`examples/${flow}.js`],
      maxIterations: 0,
      args: { base: shop.url, ...args },
      waitTimeout: 90,
    }),
  });
  return SessionRecord.parse(await response.json());
}

async function ordersOf({ shop }: Stage): Promise<{ reference: string; totalCents: number }[]> {
  return JSON.parse(await (await fetch(`${shop.url}/api/orders`)).text());
}

/** The line of an example that holds a text, as an editor counts. */
async function lineOf(flow: string, text: string): Promise<number> {
  const lines = (await readFile(`examples/flows/${flow}.js`, 'utf8')).split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

t.test('The example flows pass on the example shop, and fail where it has changed', { timeout: 110_000 }, async (t) => {
  const stage = await openStage(t);

  await t.test('Each flow passes on the shop as it is', async (t) => {
    await Promise.all(
      FLOWS.map(async (flow) => {
        const { status, error } = await run(stage, flow, { reference: `the-${flow}-job` });
        t.match({ status, error }, { status: 'completed', error: null }, flow);
      }),
    );
    t.match(await ordersOf(stage), [{ reference: 'the-buy-job', totalCents: 8230 }], 'one flow buys, and once');
  });

  await t.test('Buying survives fields that have moved, since it finds them by their names', async (t) => {
    t.match(await run(stage, 'buy', { layout: 'move' }), { status: 'completed' });
  });

  await t.test('Each other change fails the flow at the line that it breaks', async (t) => {
    const breaks = sampled(LAYOUTS, { name: 'layouts', count: 2 });
    const before = (await ordersOf(stage)).length;
    await Promise.all(
      breaks.map(async ({ layout, flow, text }) => {
        const { status, error } = await run(stage, 'buy', { layout });
        t.match({ status, code: error?.code }, { status: 'failed', code: 'FLOW_FAILED' }, layout);
        t.match(error?.details, { flow: `examples/${flow}`, line: await lineOf(flow, text) }, `${layout}: the place`);
      }),
    );
    t.equal((await ordersOf(stage)).length, before, 'nothing was bought');
  });
});
