import type { Agent } from '../../agent-js/agent.js';
import type { NetworkLog } from '../../agent-js/network/network-log.js';
import type { CastPuller } from '../../agent-js/pictures/screencast.js';
import type { TraceLog } from '../../agent-js/trace/trace-log.js';
import type { PlaywrightSession } from '../../playwright/session/playwright-session.js';
import type { Sandbox } from '../../script/sandbox.js';
import type { Browser } from './browser.js';
import type { DevToolsChannel } from './connection/devtools-channel.js';
import type { DevToolsClients } from './connection/devtools-clients.js';
import type { InputDispatcher } from './control/input-dispatcher.js';
import type { PersonParts } from './control/person.js';
import type { FlowJob } from './flow-job.js';
import type { Screen } from './screen.js';

/** The resources of an open session, all released when the actor ends. */
export interface OpenParts {
  readonly channel: DevToolsChannel;
  /** Other DevTools clients of the same browser. */
  readonly clients: DevToolsClients;
  readonly browser: Browser;
  readonly agent: Agent;
  readonly playwright: PlaywrightSession;
  readonly sandbox: Sandbox;
  readonly flows: FlowJob;
  readonly screens: { readonly [U in CastPuller]: Screen };
  readonly input: InputDispatcher;
  readonly network: NetworkLog;
  /** Null: the session is to have no trace. */
  readonly trace: TraceLog | null;
  /** What a person's scripts need, until there is a person. */
  readonly forPerson: PersonParts;
}

/** Closes the parts from left to right, in the order in which they depend on one another. */
export async function closeParts({
  sandbox,
  playwright,
  agent,
  browser,
  channel,
  network,
  trace,
}: {
  [P in 'sandbox' | 'playwright' | 'agent' | 'browser' | 'channel' | 'network' | 'trace']?: OpenParts[P] | undefined;
}): Promise<void> {
  // Emit the last steps at once, without waiting for their pictures or the script.
  agent?.flush();
  await sandbox?.close();
  await playwright?.close();
  await agent?.dispose();
  browser?.close();
  await channel?.close();
  await network?.close();
  await trace?.close();
}
