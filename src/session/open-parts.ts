import type { Agent } from '../agent-js/agent.js';
import type { NetworkLog } from '../agent-js/network/network-log.js';
import type { CastUser } from '../agent-js/pictures/screencast.js';
import type { TraceLog } from '../agent-js/trace/trace-log.js';
import type { PlaywrightSession } from '../playwright/session/playwright-session.js';
import type { Sandbox } from '../script/sandbox.js';
import type { Browser } from './browser.js';
import type { DevToolsChannel } from './connection/devtools-channel.js';
import type { DevToolsClients } from './connection/devtools-clients.js';
import type { InputDispatcher } from './control/input-dispatcher.js';
import type { PersonParts } from './control/person.js';
import { closeBrowser, type DrivenBrowser } from './driven-browser.js';
import type { FlowJob } from './flow-job.js';
import type { Screen } from './screen.js';
import type { SecondBrowsers } from './second-browsers.js';

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
  readonly screens: { readonly [U in CastUser]: Screen };
  readonly input: InputDispatcher;
  /** Those of `agent.session`. */
  readonly seconds: SecondBrowsers;
  readonly network: NetworkLog;
  /** Null: the session is to have no trace. */
  readonly trace: TraceLog | null;
  /** What a person's scripts need, until there is a person. */
  readonly forPerson: PersonParts;
}

/** Closes the parts from left to right, in the order in which they depend on one another. */
export async function closeParts({
  sandbox,
  seconds,
  ...browser
}: Partial<DrivenBrowser> & { [P in 'sandbox' | 'seconds']?: OpenParts[P] | undefined }): Promise<void> {
  // Emit the last steps at once, without waiting for their pictures or the script.
  browser.agent?.flush();
  await sandbox?.close();
  await seconds?.close();
  await closeBrowser(browser);
}
