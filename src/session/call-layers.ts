import type { HostModule } from '../script/host-module.js';

/** Returns the module with calls of its own, or with another way to those that it had. */
type Wrap = (module: HostModule) => HostModule;

/** One layer around the calls that scripts make. */
export interface CallLayer {
  readonly name: string;
  /** Only scripts of the agent have it, and not those of a person who has control. */
  readonly agentOnly?: true;
  readonly wrap: Wrap;
}

/** A module within layers, the outermost first: a call passes them in this order, and its result comes back the other way. */
export function layered(module: HostModule, layers: readonly CallLayer[]): HostModule {
  return layers.reduceRight((inner, layer) => layer.wrap(inner), module);
}

/** Around every call of a script. */
export function scriptLayers(wraps: {
  readonly controlLock: Wrap;
  readonly flowTape: Wrap;
  readonly secrets: Wrap;
}): readonly CallLayer[] {
  return [
    {
      // Before everything else: while a person has control, nothing of a call has happened, on the tape neither.
      name: 'control lock',
      agentOnly: true,
      wrap: wraps.controlLock,
    },
    {
      // Outside of the secrets: it keeps what the script wrote, `{{name}}`, and what the script got. A replay answers from it
      // without a browser, and a repaired flow is written from it.
      name: 'flow tape',
      agentOnly: true,
      wrap: wraps.flowTape,
    },
    {
      // The last before the browser: it puts values in on the way there, and takes them out of all that comes back. Nothing
      // outside of it ever holds one.
      name: 'secrets',
      wrap: wraps.secrets,
    },
  ];
}

/** Around `agent` of a session's first browser, inside of {@link scriptLayers}: calls that concern the session. */
export function sessionLayers(wraps: { readonly secondBrowsers: Wrap; readonly handoffs: Wrap }): readonly CallLayer[] {
  return [
    {
      // `session` and `in`. A call on another browser is a call of `in` until here: what is outside has seen it, and only what
      // each browser has for itself is still to come.
      name: 'second browsers',
      wrap: wraps.secondBrowsers,
    },
    {
      // `handoff`, of the session and not of a browser: a second browser has none.
      name: 'handoffs',
      wrap: wraps.handoffs,
    },
  ];
}

/** Around `agent` of each browser: calls of their own, which know the browser. Their order makes no difference. */
export function browserLayers(wraps: {
  readonly playwright: Wrap;
  readonly requests: Wrap;
  readonly states: Wrap;
}): readonly CallLayer[] {
  return [
    {
      // `mock` and `clock`.
      name: 'Playwright',
      wrap: wraps.playwright,
    },
    {
      // `requests`.
      name: 'requests',
      wrap: wraps.requests,
    },
    {
      // `saveState`.
      name: 'states',
      wrap: wraps.states,
    },
  ];
}
