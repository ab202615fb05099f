import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import type { PostgresServer } from '../support/postgres/server.mjs';
import { client, makeHome, type Teardown, type TestService } from '../support/service.js';
import { type ServiceProcess, spawnService } from '../support/service-process.js';
import { createDatabase, ownPostgres } from '../support/test-store.js';

/** A node: a service in a process and a home of its own. */
export interface RunningNode extends Pick<TestService, 'url' | 'call' | 'live' | 'run' | 'seen' | 'job'> {
  readonly id: string;
  readonly home: string;
  readonly process: Omit<ServiceProcess, 'url'>;
}

/** How nodes are run, beside their defaults. */
export interface NodesOptions {
  /** Files of each node's `flows/`. */
  readonly flows?: { readonly [path: string]: string };
  readonly leaseFactor?: number;
  /** Ports by id, where the test needs them: at which the node listens, and at which other nodes reach it. */
  readonly ports?: ReadonlyMap<string, { readonly own: number; readonly reached: number }>;
}

/** Several nodes that share a database. */
export interface Nodes {
  readonly database: string;
  readonly server: PostgresServer;
  /** Starts one, by its id; again with the same home if it ran before. */
  start(id: string, settings?: object): Promise<RunningNode>;
  /** As {@link Nodes.start}, without waiting: for one that is refused. */
  spawn(id: string, settings?: object): Promise<ReturnType<typeof spawnService>>;
}

/** Half of the times that nodes have by default: a busy machine would miss the renewals of shorter ones. */
const LEASE_FACTOR = 0.5;
const KEY = 'a key that all nodes of this test share';

/** A PostgreSQL server of its own, and nodes on it. All end with the test. */
export async function makeNodes(t: Teardown, options: NodesOptions = {}): Promise<Nodes> {
  const { flows = {}, leaseFactor = LEASE_FACTOR, ports } = options;
  const server = await ownPostgres(t);
  const database = await createDatabase(server.url('postgres'));
  process.env.TROUPE_TEST_NODES_DATABASE = database;
  process.env.TROUPE_TEST_NODES_KEY = KEY;
  const homes = new Map<string, { readonly home: string; readonly port: number; readonly url: string }>();
  const newPlace = async (id: string) => {
    const port = ports?.get(id)?.own ?? (await freePort());
    return { home: makeHome(t), port, url: `http://127.0.0.1:${ports?.get(id)?.reached ?? port}` };
  };
  const spawn = async (id: string, settings: object = {}) => {
    const place = homes.get(id) ?? (await newPlace(id));
    homes.set(id, place);
    const { home, port, url } = place;
    const node = { id, url, leaseFactor };
    const shared = { database: 'TROUPE_TEST_NODES_DATABASE', clusterKey: 'TROUPE_TEST_NODES_KEY', node };
    const config = { driver: 'process', warmSessions: 0, maxSessions: 2, port, ...shared, ...settings };
    writeFileSync(join(home, 'troupe.json'), JSON.stringify(config));
    mkdirSync(join(home, 'flows'), { recursive: true });
    for (const [path, text] of Object.entries(flows)) writeFileSync(join(home, 'flows', path), text);
    const started = spawnService(home, '--port', String(port));
    // The second signal ends it at once, with its browsers.
    t.teardown(async () => {
      const { child, output } = started;
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      child.kill('SIGTERM');
      await eventually('the node stops', () => isOver() || output().includes('stopping'));
      if (!isOver()) await started.end('SIGTERM');
    });
    return started;
  };
  return {
    database,
    server,
    spawn,
    async start(id, settings) {
      const { listening, ...process } = await spawn(id, settings);
      return { id, home: homes.get(id)?.home ?? '', process, ...client(await listening) };
    },
  };
}
