import { cpus } from 'node:os';
import { Supervision } from './actors/supervision.js';
import { ThreadPool } from './actors/thread-pool.js';
import { PictureBudget } from './agent-js/pictures/picture-budget.js';
import { openStore } from './artifact-store/open-store.js';
import { AccessTokens } from './auth/access-tokens.js';
import { LoginStates } from './auth/login-states.js';
import { RequestVault } from './auth/request-vault.js';
import { SetupValues } from './auth/setup-values.js';
import { ShareLinks } from './auth/share-links.js';
import { systemClock } from './base/clock.js';
import { withSignal } from './base/deadline.js';
import type { Config } from './config.js';
import { Gateway } from './gateway/server.js';
import { Journal } from './journal/journal.js';
import { ClosedPorts } from './net-policy/closed-ports.js';
import { type SessionRecord, warningOfScreenshots } from './protocol/session.js';
import { ReportPool } from './report/report-pool.js';
import { chooseDriver, type DriverChoice } from './service/choose-driver.js';
import { ClosedNodes, withClosedTargets } from './service/closed-targets.js';
import { instanceOf, joinCluster, leaveOf, refusalOf } from './service/join-cluster.js';
import { makeHome } from './service/make-home.js';
import { Telemetry } from './service/telemetry.js';
import { ArtifactKeeper } from './supervisor/artifacts/index.js';
import { VideoEncoding } from './supervisor/browsers/index.js';
import { EventHub } from './supervisor/events/index.js';
import { Supervisor } from './supervisor/supervisor.js';
import type { Log } from './telemetry/log.js';
import { watchThreads } from './threads/thread-faults.js';
import { Outbox } from './webhooks/outbox.js';
import { targetRule } from './webhooks/webhook-target.js';

/** Jobs in their flows may go on this long after a stop was asked for, in milliseconds. */
const DRAIN_MS = 10_000;

/** The actors of sessions have ended with their sessions; what is left then is cut. */
const SUPERVISION_STOP_MS = 2_000;

/** A running service. */
export interface Service {
  readonly url: string;
  readonly port: number;
  /** For people: which driver runs, with which browser. */
  readonly description: string;
  /** For people: which HTTP server answers, and why. */
  readonly server: string;
  /** Whether callers need an access token, as it was when the service started. */
  readonly asksForToken: boolean;
  /** Whether pages reach this port of the machine as localhost, without their session asking for it. */
  reachesLocalhost(port: number): boolean;
  /** Settles when this node was drained by a request and has no sessions any more: it must be stopped then. */
  readonly left: Promise<'drained'>;
  /** For how long it was not used, in milliseconds; 0 while anybody is connected or any session or job is open. */
  unusedMs(): number;
  /** Settles when a part failed that the service cannot do without. It must be stopped then. */
  readonly failed: Promise<Error>;
  /** Ends everything in order and gives everything back. Idempotent. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Builds and wires the house: the only place that sees every folder. The port comes first, and answers 503 until what
 * an earlier service left has been taken up. What was built is taken down again, in reverse order, when a later part
 * fails.
 */
export async function startService(
  given: Config,
  options: {
    readonly version: string;
    readonly log: Log;
    /** With it the service proves itself, see `client/local-service/service-proof.ts`. */
    readonly secret?: string;
    /** Where browsers come from, in place of what the configuration says: benchmarks bring their own. */
    readonly driver?: DriverChoice;
    /** Ends the start; what was built is taken down again. */
    readonly signal?: AbortSignal;
  },
): Promise<Service> {
  const { version, log, signal } = options;
  const built: (() => Promise<void>)[] = [];
  const takeDown = async () => {
    for (let part = built.pop(); part !== undefined; part = built.pop()) await part();
  };
  try {
    const config = await withClosedTargets(given);
    await makeHome(config);
    const warning = warningOfScreenshots(config.screenshots);
    if (warning !== null) log(`warning: troupe.json: ${warning}`);
    const { database, node } = config;
    const store = await openStore(config.artifacts, config.sessionsDir);
    const closedPorts = new ClosedPorts();
    const telemetry = new Telemetry(config, version, log);
    // First of all, for one service alone: what cannot have its port must not touch what another service holds.
    const pictures = new PictureBudget();
    const gateway = await Gateway.listen({
      pictures,
      closedPorts,
      chromedriver: config.chromedriver,
      host: config.host,
      port: config.port,
      server: config.server,
      publicUrl: config.publicUrl,
      traceViewer: config.traceViewer,
      allowedHosts: node === undefined ? config.allowedHosts : [...config.allowedHosts, new URL(node.url).host],
      token: config.token,
      secret: options.secret,
      metrics: () => telemetry.metrics(),
      onAnswered: (answered) => telemetry.answered(answered),
      onFault: ({ method, path, error }) => log(`${method} ${path}: ${describeFault(error)}`),
    });
    built.push(() => gateway.close(0));
    const journal = await Journal.open({ file: config.journalFile, database, isShared: node !== undefined, log });
    built.push(() => journal.close());
    signal?.throwIfAborted();
    const vault = await RequestVault.open(config.keyFile, config.clusterKey);
    const cluster = await joinCluster(config, version, log);
    if (cluster !== undefined) built.push(() => cluster.close());
    const closedNodes = cluster === undefined ? undefined : new ClosedNodes(cluster, closedPorts);
    await closedNodes?.refresh();
    const instance = instanceOf(config, journal.instance);
    const surroundings = {
      config,
      instance,
      ownPort: gateway.port,
      closedPorts,
      log,
    };
    const { driver, description } = options.driver ?? (await chooseDriver(surroundings));
    signal?.throwIfAborted();
    const stopWatching = watchThreads();
    built.push(async () => stopWatching());
    const threads = new ThreadPool(
      { entry: new URL('./session/session.thread.js', import.meta.url), name: 'sessions' },
      Math.max(1, cpus().length - 1),
    );
    built.push(() => threads.close());
    const supervision = new Supervision({ threads });
    built.push(() => supervision.stop(SUPERVISION_STOP_MS));
    const videos = new VideoEncoding({ driver, supervision, clock: systemClock, log, pictures });
    built.push(() => videos.close());
    const pool = new ReportPool();
    built.push(() => pool.close());
    const hub = new EventHub(journal, systemClock, cluster?.book);
    telemetry.follow(hub);
    built.push(() => telemetry.close());
    const tokens = await AccessTokens.open({ journal, vault, clock: systemClock, log });
    const webhooks = new Outbox({
      journal,
      vault,
      log,
      clock: systemClock,
      secret: config.webhookSecret,
      rule: targetRule({
        ownPort: gateway.port,
        closedPorts: closedPorts.shared,
        allow: config.webhooks.allow,
        egress: config.egress ?? {},
        isOpen: () => config.token === undefined && tokens.size === 0,
      }),
      isShared: cluster !== undefined,
      handoffLink: config.handoff.link ? handoffLinkOf(config, vault) : undefined,
      random: Math.random,
    });
    built.push(() => webhooks.close());
    void webhooks.run((wanted) => hub.stream({ after: hub.lastSeq(), ...wanted }, () => true));
    const supervisor = await Supervisor.start({
      // With port 0 the system chose one: what is closed to sessions is that one.
      config: Object.freeze({ ...config, port: gateway.port }),
      driver,
      closedPorts: closedPorts.shared,
      supervision,
      videos,
      journal,
      log,
      version,
      clock: systemClock,
      vault,
      tokens,
      setupValues: new SetupValues({ journal, vault, tokens }),
      states: new LoginStates({ journal, vault, tokens, clock: systemClock }),
      hub,
      webhooks,
      cluster,
      renewed: ({ doesChores }) => {
        void webhooks.appoint(doesChores);
        // While the journal cannot be read, the tokens stay as they are.
        tokens.refresh().catch(() => undefined);
        closedNodes?.refresh().catch(() => undefined);
      },
      artifacts: new ArtifactKeeper(journal, pool, config.sessionsDir, {
        upload: store && { store, clock: systemClock, log },
        node: node?.id,
      }),
      reports: pool,
    });
    let usedAtMs = performance.now();
    let drainMs = DRAIN_MS;
    built.push(() => supervisor.stop(drainMs));
    signal?.throwIfAborted();
    telemetry.watch({ gateway, threads, supervisor, instance });
    gateway.serve(supervisor);
    if (gateway.setupHint !== null) log(gateway.setupHint);
    let stopped: Promise<void> | undefined;
    const hurry = new AbortController();
    const stopAll = async () => {
      if (cluster !== undefined && drainMs > 0) {
        // Answers requests of other nodes until its sessions have ended.
        cluster.drainSelf();
        await withSignal({ signals: [hurry.signal], ms: config.drainTimeout * 1000 }, (signal) =>
          supervisor.idle(signal),
        );
      }
      // Answers under way end with their sessions, so both stop together and the gateway waits for the last words.
      await Promise.allSettled([gateway.close(drainMs + 2_000), supervisor.stop(drainMs)]);
      await takeDown();
    };
    return {
      url: gateway.url,
      port: gateway.port,
      description,
      server: gateway.server.description,
      asksForToken: gateway.requiresToken,
      failed: cluster === undefined ? journal.failed : Promise.race([journal.failed, refusalOf(cluster)]),
      left: cluster === undefined ? new Promise(() => undefined) : leaveOf(cluster),
      unusedMs() {
        const { running, queued } = supervisor.health().capacity;
        if (running + queued > 0) usedAtMs = performance.now();
        return Math.min(gateway.unusedMs, performance.now() - usedAtMs);
      },
      reachesLocalhost: (port) => driver.name === 'process' || config.forward.includes(port),
      stop(stopOptions) {
        drainMs = stopOptions?.drainMs ?? DRAIN_MS;
        if (drainMs === 0) hurry.abort();
        if (drainMs === 0) supervisor.abortDrain();
        stopped ??= stopAll();
        return stopped;
      },
    };
  } catch (error) {
    await takeDown();
    throw error;
  }
}

/** Makes the links that messages about handoffs contain. */
function handoffLinkOf({ publicUrl }: Config, vault: RequestVault): (record: SessionRecord) => string | null {
  const links = new ShareLinks({ vault, clock: systemClock }, 'handoff');
  return ({ id, handoff }) => {
    if (handoff === undefined || publicUrl === undefined) return null;
    // Links have whole seconds: this one does not expire before its handoff.
    const seconds = Math.ceil((Date.parse(handoff.expiresAt) - systemClock.now().getTime()) / 1000) + 1;
    return `${publicUrl.replace(/\/+$/, '')}/shared/${links.make(id, seconds, handoff.id).link}`;
  };
}

function describeFault(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
