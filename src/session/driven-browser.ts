import { Agent } from '../agent-js/agent.js';
import { namedEvents } from '../agent-js/named-events.js';
import { NetworkLog } from '../agent-js/network/network-log.js';
import { RequestMemory } from '../agent-js/network/request-memory.js';
import type { SavedStates } from '../agent-js/state/saved-states.js';
import type { StepOrder } from '../agent-js/step-order.js';
import { TraceLog } from '../agent-js/trace/trace-log.js';
import { PlaywrightSession } from '../playwright/session/playwright-session.js';
import type { SessionEvent } from '../protocol/events.js';
import type { HostModule } from '../script/host-module.js';
import { Browser } from './browser.js';
import { browserLayers, layered } from './call-layers.js';
import { DevToolsChannel } from './connection/devtools-channel.js';
import type { GivenBrowser, SessionArgs } from './messages.js';

/** A browser of a session, with all that scripts use it through. */
export interface DrivenBrowser {
  readonly channel: DevToolsChannel;
  readonly browser: Browser;
  readonly agent: Agent;
  readonly playwright: PlaywrightSession;
  readonly network: NetworkLog;
  /** Null: the session is to have no trace, or it is not the session's first browser. */
  readonly trace: TraceLog | null;
  /** The calls of `agent` on this browser. */
  readonly module: HostModule;
}

/** What the browsers of a session share. */
export interface SessionParts {
  readonly args: SessionArgs;
  readonly order: StepOrder;
  readonly states: SavedStates;
  emit(event: SessionEvent): void;
  redact<T>(shown: T): T;
}

/** Which of a session's browsers it is. */
export interface WhichBrowser {
  /** Null: the first one. */
  readonly name: string | null;
  /** See `PlaywrightParts.rulesStand`. */
  rulesStand(stand: boolean): Promise<void>;
}

/**
 * Connects to a browser, and makes what scripts use it through.
 * @throws as `Browser.connect`; the connection is then closed
 */
export async function driveBrowser(
  { endpoint, devTools, page }: GivenBrowser,
  { args, order, states, emit, redact }: SessionParts,
  { name, rulesStand }: WhichBrowser,
  bounds: Parameters<typeof Browser.connect>[3],
): Promise<DrivenBrowser> {
  const { screenshotsDir, stepScreenshots, actMs, flowsDir, baselines, networkLog: file, traceLog } = args;
  const { actsUntil, isFilmed } = args;
  const channel = await DevToolsChannel.open(devTools, {
    ...bounds,
    actsUntil,
    keepsEarlier: bounds.losesPages === true,
  });
  const browser = await Browser.connect(endpoint, channel, page, bounds).catch(async (error: unknown) => {
    await channel.close();
    throw error;
  });
  const network = new NetworkLog({ file, redact });
  browser.listen((event) => network.observe(event));
  const requests = new RequestMemory();
  browser.listen((event) => requests.observe(event));
  const trace = traceLog === null || name !== null ? null : new TraceLog({ file: traceLog, redact });
  if (trace !== null) browser.listen((event) => trace.observe(event));
  const agent = new Agent({
    browser,
    emit,
    order,
    ...(name === null ? {} : { named: namedEvents(name) }),
    screenshotsDir,
    stepScreenshots,
    actMs,
    flowsDir,
    baselines,
    redact,
  });
  if (isFilmed) agent.keepView();
  if (args.networkBodies) network.keepBodies(browser);
  else network.attach(browser);
  const playwright = new PlaywrightSession({
    agent,
    join: (user, until) => channel.join(user, until),
    listen: (listener) => browser.onDownloadMessage(listener),
    folders: { dir: endpoint.uploadsDir, flowsDir },
    rulesStand,
    emit,
  });
  const layers = browserLayers({
    playwright: (module) => playwright.addTo(module),
    requests: (module) => requests.addTo(module, browser),
    states: (module) => states.addTo(module, browser),
  });
  const module = layered(agent.module, layers);
  return { channel, browser, agent, playwright, network, trace, module };
}

/** Closes the parts of one browser, in the order in which they depend on one another. */
export async function closeBrowser({
  playwright,
  agent,
  browser,
  channel,
  network,
  trace,
}: Partial<DrivenBrowser>): Promise<void> {
  await playwright?.close();
  await agent?.dispose();
  browser?.close();
  await channel?.close();
  await network?.close();
  await trace?.close();
}
