import type { Handoffs } from '../../agent-js/handoff.js';
import type { RequestMemory } from '../../agent-js/network/request-memory.js';
import type { Secrets } from '../../agent-js/secrets.js';
import type { SavedStates } from '../../agent-js/state/saved-states.js';
import type { PlaywrightSession } from '../../playwright/session/playwright-session.js';
import type { HostModule } from '../../script/host-module.js';
import type { Browser } from './browser.js';
import type { ControlLock } from './control/control-lock.js';
import type { DrivenBrowser } from './driven-browser.js';
import type { FlowJob } from './flow-job.js';
import type { SecondBrowsers } from './second-browsers.js';

/** One layer around the calls that scripts make. */
export interface CallLayer {
  readonly name: string;
  /** Only scripts of the agent have it, and not those of a person who has control. */
  readonly agentOnly?: true;
  /** The module with calls of its own, or with another way to those that it had. */
  wrap(module: HostModule): HostModule;
}

/** A module within layers, the outermost first: a call passes them in this order, and its result comes back the other way. */
export function layered(module: HostModule, layers: readonly CallLayer[]): HostModule {
  return layers.reduceRight((inner, layer) => layer.wrap(inner), module);
}

/** Around every call of a script. */
export function scriptLayers(parts: {
  readonly controlLock: Pick<ControlLock, 'wrap'>;
  readonly flows: Pick<FlowJob, 'wrap'>;
  readonly secrets: Pick<Secrets, 'wrap'>;
}): readonly CallLayer[] {
  return [
    {
      // Before everything else: while a person has control, nothing of a call has happened, on the tape neither.
      name: 'control lock',
      agentOnly: true,
      wrap: (module) => parts.controlLock.wrap(module),
    },
    {
      // Outside of the secrets: it keeps what the script wrote, `{{name}}`, and what the script got. A replay answers from it
      // without a browser, and a repaired flow is written from it.
      name: 'flow tape',
      agentOnly: true,
      wrap: (module) => parts.flows.wrap(module),
    },
    {
      // The last before the browser: it puts values in on the way there, and takes them out of all that comes back. Nothing
      // outside of it ever holds one.
      name: 'secrets',
      wrap: (module) => parts.secrets.wrap(module),
    },
  ];
}

/** Around `agent` of a session's first browser, inside of {@link scriptLayers}: calls that concern the session. */
export function sessionLayers(parts: {
  readonly seconds: Pick<SecondBrowsers, 'addTo'>;
  readonly first: Pick<DrivenBrowser, 'agent'>;
  readonly handoffs: Pick<Handoffs, 'addTo'>;
}): readonly CallLayer[] {
  return [
    {
      // `session` and `in`. A call on another browser is a call of `in` until here: what is outside has seen it, and only what
      // each browser has for itself is still to come.
      name: 'second browsers',
      wrap: (module) => parts.seconds.addTo(module, parts.first),
    },
    {
      // `handoff`, of the session and not of a browser: a second browser has none.
      name: 'handoffs',
      wrap: (module) => parts.handoffs.addTo(module),
    },
  ];
}

/** Around `agent` of each browser: calls of their own, which know the browser. Their order makes no difference. */
export function browserLayers(parts: {
  readonly browser: Browser;
  readonly playwright: Pick<PlaywrightSession, 'addTo'>;
  readonly requests: Pick<RequestMemory, 'addTo'>;
  readonly states: Pick<SavedStates, 'addTo'>;
}): readonly CallLayer[] {
  return [
    {
      // `mock` and `clock`.
      name: 'Playwright',
      wrap: (module) => parts.playwright.addTo(module),
    },
    {
      // `requests`.
      name: 'requests',
      wrap: (module) => parts.requests.addTo(module, parts.browser),
    },
    {
      // `saveState`.
      name: 'states',
      wrap: (module) => parts.states.addTo(module, parts.browser),
    },
  ];
}
