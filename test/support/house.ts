import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Supervision } from '#troupe/actors/supervision.js';
import { ThreadPool } from '#troupe/actors/thread-pool.js';
import { PictureBudget } from '#troupe/agent-js/pictures/picture-budget.js';
import { AccessTokens } from '#troupe/auth/access-tokens.js';
import { LoginStates } from '#troupe/auth/login-states.js';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { SetupValues } from '#troupe/auth/setup-values.js';
import { systemClock } from '#troupe/base/clock.js';
import { readConfig } from '#troupe/config.js';
import { Gateway, type GatewayOptions } from '#troupe/gateway/server.js';
import { Journal } from '#troupe/journal/journal.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import type { SessionEvent } from '#troupe/protocol/events.js';
import type { LiveRequest, SessionId, SessionRecord } from '#troupe/protocol/session.js';
import { ReportPool } from '#troupe/report/report-pool.js';
import { makeHome as makeFolders } from '#troupe/service/make-home.js';
import { ArtifactKeeper } from '#troupe/supervisor/artifacts/artifact-keeper.js';
import { VideoEncoding } from '#troupe/supervisor/browsers/index.js';
import { EventHub } from '#troupe/supervisor/events/event-hub.js';
import { Supervisor } from '#troupe/supervisor/supervisor.js';
import { Outbox } from '#troupe/webhooks/outbox.js';
import { targetRule } from '#troupe/webhooks/webhook-target.js';
import { FreeBrowsers } from './free-browsers.js';
import { makeHome, type Teardown } from './service.js';
import { testedServer } from './tested-server.js';

/** What a service is behind its gateway: a real supervisor with journal, actors and scripts, over {@link FreeBrowsers}. */
export interface House {
  readonly sessions: Supervisor;
  readonly browsers: FreeBrowsers;
  readonly home: string;
  /** A gateway of its own in front of it, on a free port. */
  listen(options?: Partial<GatewayOptions>): Promise<Gateway>;
  live(request?: LiveRequest): Promise<SessionRecord>;
  /** Journals events of a session together; settles when readers are shown them. */
  append(id: SessionId, ...events: readonly SessionEvent[]): Promise<void>;
  /** Ends everything; the end of the test does too. */
  stop(): Promise<void>;
}

/** A port of the supervisor of which a test answers a few calls by itself, such as one that fails or takes its time. */
export function scripted<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      if (Reflect.has(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Flows that jobs may name: `quick.js` ends at once, `endless.js` when it is told to. */
const FLOWS = { 'quick.js': '// Ends at once.\n() => 1', 'endless.js': '() => { for (;;) agent.wait(1000) }' };

/** A house of at most three sessions at a time, unless the settings say otherwise. */
export async function openHouse(t: Teardown, settings: object = {}): Promise<House> {
  const home = makeHome(t, { driver: 'process', maxSessions: 3, warmSessions: 0, ...settings });
  for (const [name, source] of Object.entries(FLOWS)) writeFileSync(join(home, 'flows', name), source);
  const config = readConfig({ port: '0' }, { ...process.env, TROUPE_HOME: home });
  const log = (): void => undefined;
  const browsers = await FreeBrowsers.open(t);
  await makeFolders(config);
  const journal = await Journal.open({ file: config.journalFile, database: config.database, log });
  const entry = new URL('../../dist/session/session.thread.js', import.meta.url);
  const threads = new ThreadPool({ entry, name: 'sessions' }, 1);
  const supervision = new Supervision({ threads });
  const videos = new VideoEncoding({
    driver: browsers.driver,
    supervision,
    clock: systemClock,
    log,
    pictures: new PictureBudget(),
  });
  const reports = new ReportPool();
  const hub = new EventHub(journal);
  const vault = await RequestVault.open(config.keyFile, config.clusterKey);
  const clock = systemClock;
  const tokens = await AccessTokens.open({ journal, vault, clock });
  const rule = targetRule({ ownPort: 0, allow: [], egress: {}, isOpen: () => true });
  const webhooks = new Outbox({ journal, vault, log, clock, secret: undefined, rule, random: Math.random });
  const parts = { config, driver: browsers.driver, supervision, journal, log, version: '0.0.0-test', clock, vault };
  const sessions = await Supervisor.start({
    ...parts,
    videos,
    tokens,
    states: new LoginStates({ journal, vault, tokens, clock }),
    setupValues: new SetupValues({ journal, vault, tokens }),
    hub,
    webhooks,
    reports,
    artifacts: new ArtifactKeeper(journal, reports, config.sessionsDir),
  });
  const gateways: Gateway[] = [];
  let stopped: Promise<void> | undefined;
  const stopAll = async () => {
    sessions.abortDrain();
    await Promise.all([...gateways.map((gateway) => gateway.close(1_000)), sessions.stop(0)]);
    await webhooks.close();
    await reports.close();
    await videos.close();
    await supervision.stop(2_000);
    await threads.close();
    await journal.close();
  };
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };
  t.teardown(stop);
  const never = new AbortController().signal;
  return {
    sessions,
    browsers,
    home,
    stop,
    async listen(options = {}) {
      const all = { host: '127.0.0.1', port: 0, server: testedServer(), sessions, allowedHosts: [], ...options };
      const gateway = await Gateway.listen(all);
      gateways.push(gateway);
      return gateway;
    },
    live: (request = {}) => sessions.createLive(request, { caller: 'a test', signal: never }),
    append: (id, ...events) =>
      hub.write({ events: events.map((event) => eventRow(id, event, new Date().toISOString())) }),
  };
}
