import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { WORKER_SOURCES } from '#troupe/containers/docker/worker-image.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { ownFolder, type RunningCommand } from './command.js';
import { BUILD_PROGRAMS, giveImages, IMAGES } from './images.js';
import { ENGINE_PROGRAMS, type Machine, type Machines, makeMachines } from './machines.js';
import { ADMIN, prepareStack } from './stack.js';

guardLeaks(t);

/** Of each of the three runs. */
const FLOWS = Number(process.env.TROUPE_FLOWS ?? 24);
/** Browsers of one node. */
const SLOTS = 2;
const RUN_MS = 3_000_000;
const DEPLOYED_MS = 600_000;
const ROOT = join(WORKER_SOURCES, '..');

const Orders = z.array(z.object({ reference: z.string() }));
const Live = z.object({ id: z.string(), node: z.string() });
const Ctrf = z.object({
  results: z.object({
    tests: z.array(z.object({ name: z.string(), status: z.string(), message: z.string().optional() })),
  }),
});

/** `npm run nightly -- swarm` wants root on Debian. */
const skip =
  process.getuid?.() === 0
    ? skipWithout(...ENGINE_PROGRAMS, ...BUILD_PROGRAMS)
    : 'network namespaces and Docker engines need root';

t.test('deploy/stack.yml on a Swarm of three machines', { skip, timeout: 3_600_000 }, async (t) => {
  const machines = await makeMachines(t, 3);
  const [first, second, third] = machines.all;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three machines');
  await giveImages(t, machines.all);
  await makeSwarm(first, [second, third]);
  const stack = await prepareStack(first, join(ownFolder(t), 'deploy'), machines.all);
  await stack.deploy(IMAGES.troupe);
  const suite = new Suite(machines, first, ownFolder(t));
  t.teardown(() => suite.close());
  await suite.open();
  await suite.untilUp(3);

  await t.test('a rolling update drains each node: every flow runs once', async (t) => {
    const run = suite.start('update');
    await run.ordered(3);
    await stack.deploy(IMAGES.next);
    t.same(await run.outcome(), { passed: FLOWS, failed: [], orders: run.each(1) });
    // Until then, a machine that is drained counts as a failure of the update.
    await eventually('the update is complete', async () => (await updateOf(first)) === 'completed', DEPLOYED_MS);
    t.ok(
      (await tasksOf(first)).every((image) => image === IMAGES.next),
      'all tasks are of the new image',
    );
    await suite.untilUp(3);
  });

  await t.test('a live session on a machine that is drained answers through the others until it ends', async (t) => {
    const sessions: z.infer<typeof Live>[] = [];
    while (!sessions.some(({ node }) => node === second.name))
      sessions.push(Live.parse(await suite.call('POST', '/api/sessions', {})));
    await first.docker('node', 'update', '--availability', 'drain', second.name);
    const isDraining = async () => / draining /.test(await suite.nodes());
    await eventually('the node drains', isDraining, DEPLOYED_MS);
    for (const { id } of sessions) t.equal(await suite.call('POST', `/sessions/${id}/proxy`, { js: '1 + 1' }), 2);
    for (const { id } of sessions) t.match(await suite.call('DELETE', `/api/sessions/${id}`), { status: 'stopped' });
    await suite.untilUp(2);
    await first.docker('node', 'update', '--availability', 'active', second.name);
    await suite.untilUp(3);
  });

  await t.test('a machine that is drained gives nothing away half-done: every flow runs once', async (t) => {
    const run = suite.start('drain');
    await run.ordered(3);
    await first.docker('node', 'update', '--availability', 'drain', second.name);
    await suite.untilUp(2);
    t.equal(await second.docker('ps', '--quiet', '--filter', 'label=troupe.lease'), '', 'no worker is left there');
    t.same(await run.outcome(), { passed: FLOWS, failed: [], orders: run.each(1) });
    await first.docker('node', 'update', '--availability', 'active', second.name);
    await suite.untilUp(3);
  });

  await t.test('a machine without power costs what it was doing, and no flow runs twice', async (t) => {
    const run = suite.start('power');
    await run.ordered(3);
    await third.kill();
    const { passed, failed, orders } = await run.outcome();
    t.comment(`${failed.length} flows were interrupted`);
    t.equal(passed + failed.length, FLOWS, 'every flow has an end');
    t.ok(failed.length <= SLOTS, 'only what it ran is lost');
    for (const message of failed) t.match(message, /INTERRUPTED|NODE_LOST|node/i);
    t.same(
      Object.values(orders).filter((count) => count > 1),
      [],
      'no flow ordered twice',
    );
    t.ok(Object.keys(orders).length >= passed, 'every flow that passed has ordered');
    await suite.untilUp(2);
  });
});

async function makeSwarm(manager: Machine, others: readonly Machine[]): Promise<void> {
  const own = ({ address }: Machine) => ['--advertise-addr', address, '--listen-addr', `${address}:2377`];
  await manager.docker('swarm', 'init', ...own(manager));
  const token = await manager.docker('swarm', 'join-token', '--quiet', 'manager');
  for (const other of others)
    await other.docker('swarm', 'join', '--token', token, ...own(other), `${manager.address}:2377`);
}

/** How far the last update of the service is, such as `updating`, `completed`, or `rollback_started`. */
async function updateOf(manager: Machine): Promise<string> {
  return manager.docker('service', 'inspect', '--format', '{{.UpdateStatus.State}}', 'troupe_troupe');
}

/** The images of the service's tasks that should run. */
async function tasksOf(manager: Machine): Promise<readonly string[]> {
  const words = ['--filter', 'desired-state=running', '--no-trunc', '--format', '{{.Image}}'];
  return (await manager.docker('service', 'ps', ...words, 'troupe_troupe')).split('\n');
}

/** The example shop, and runs of its flow, on the machines' network. */
class Suite {
  readonly #machines: Machines;
  readonly #url: string;
  readonly #shop: string;
  readonly #env = { ...process.env, TROUPE_TOKEN: ADMIN, TROUPE_HOME: '' };
  readonly #folder: string;
  #opened: RunningCommand | undefined;

  constructor(machines: Machines, entry: Machine, folder: string) {
    this.#folder = folder;
    this.#env.TROUPE_HOME = join(folder, 'home');
    this.#machines = machines;
    this.#url = `http://${entry.address}:4444`;
    this.#shop = `http://${machines.address}:4500`;
  }

  async open(): Promise<void> {
    this.#opened = this.#node('examples/shop/main.mjs', '--host', this.#machines.address, '--port', '4500');
    await eventually('the shop is open', async () => (await this.orders('')) !== null);
  }

  async close(): Promise<void> {
    // It would wait for connections of machines without power.
    this.#opened?.child.kill('SIGKILL');
    await this.#opened?.ended;
  }

  /** What `troupe nodes` prints. */
  async nodes(): Promise<string> {
    const { ended, output } = this.#node('dist/cli.js', 'nodes', '--url', this.#url);
    await ended;
    return output();
  }

  /** Waits until that many nodes are up, and no other is known but lost ones. */
  async untilUp(count: number): Promise<void> {
    const isUp = async () => {
      const lines = (await this.nodes()).split('\n');
      const inState = (state: string) => lines.filter((line) => line.includes(` ${state} `)).length;
      return inState('up') === count && inState('draining') === 0;
    };
    await eventually(`${count} nodes are up`, isUp, DEPLOYED_MS);
  }

  /** Calls the service through the balancer of the first machine. */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = {
      method,
      headers: { authorization: `Bearer ${ADMIN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const source = `fetch(${JSON.stringify(this.#url + path)}, ${JSON.stringify(init)}).then(async (a) => console.log(await a.text()))`;
    const { ended, output } = this.#node('-e', source);
    if ((await ended) !== 0) throw new Error(`${method} ${path}: ${output()}`);
    return JSON.parse(output());
  }

  /** How often each reference that begins so was ordered; null if the shop does not answer. */
  async orders(prefix: string): Promise<Readonly<Record<string, number>> | null> {
    const source = `fetch(${JSON.stringify(`${this.#shop}/api/orders`)}).then(async (a) => console.log(await a.text()))`;
    const { ended, output } = this.#node('-e', source);
    if ((await ended) !== 0) return null;
    const counts: Record<string, number> = {};
    for (const { reference } of Orders.parse(JSON.parse(output())))
      if (reference.startsWith(prefix)) counts[reference] = (counts[reference] ?? 0) + 1;
    return counts;
  }

  /** Starts a run of all flows, each with a reference of its own. */
  start(name: string): Run {
    const folder = mkdtempSync(join(this.#folder, 'r-'));
    const references = Array.from({ length: FLOWS }, (_, index) => `${name}-${index}`);
    writeFileSync(join(folder, 'rows.csv'), ['reference', ...references, ''].join('\n'));
    const words = ['--data', join(folder, 'rows.csv'), '--args', `base=${this.#shop}`, '--url', this.#url];
    const ctrf = join(folder, 'ctrf.json');
    const command = this.#node('dist/cli.js', 'run', 'examples/flows/buy.js', ...words, '--ctrf', ctrf);
    return new Run(this, { name, references, command, ctrf });
  }

  #node(...words: readonly string[]): RunningCommand {
    return this.#machines.inside(['env', '-C', ROOT, process.execPath, ...words], this.#env);
  }
}

interface RunParts {
  readonly name: string;
  readonly references: readonly string[];
  readonly command: RunningCommand;
  readonly ctrf: string;
}

class Run {
  readonly #suite: Suite;
  readonly #parts: RunParts;

  constructor(suite: Suite, parts: RunParts) {
    this.#suite = suite;
    this.#parts = parts;
  }

  /** What the shop has if each flow ordered so often. */
  each(count: number): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#parts.references.map((reference) => [reference, count]));
  }

  async ordered(count: number): Promise<void> {
    const { name, command } = this.#parts;
    await eventually(
      `${count} flows have ordered: ${command.output()}`,
      async () => Object.keys((await this.#suite.orders(`${name}-`)) ?? {}).length >= count,
      RUN_MS,
    );
  }

  /** Waits for the end. */
  async outcome() {
    const { name, command, ctrf } = this.#parts;
    await eventually('the run has ended', () => command.child.exitCode !== null, RUN_MS);
    await command.ended;
    const { tests } = Ctrf.parse(JSON.parse(readFileSync(ctrf, 'utf8'))).results;
    const failed = tests.filter(({ status }) => status !== 'passed').map(({ message }) => message ?? 'no message');
    return { passed: tests.length - failed.length, failed, orders: (await this.#suite.orders(`${name}-`)) ?? {} };
  }
}
