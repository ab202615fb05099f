import type { HostCall, HostCallContext } from '../../script/host-module.js';
import { boundsOf } from '../browser/bounds.js';
import { membersOf, timeoutOf } from '../call-arguments.js';
import { callSource } from '../call-source.js';
import { settled } from '../look/settled.js';
import type { Steps } from '../steps.js';
import type { Tabs } from '../tabs/tabs.js';
import { type Vitals, vitalsOf } from './vitals.js';

const VITALS_MS = 10_000;

/** `agent.vitals`: one step. */
export class VitalsCall {
  readonly calls: { readonly [method: string]: HostCall };
  readonly #tabs: Tabs;
  readonly #steps: Steps;

  constructor(parts: { readonly tabs: Tabs; readonly steps: Steps }) {
    this.#tabs = parts.tabs;
    this.#steps = parts.steps;
    this.calls = { vitals: ([options], context) => this.#measure(options, context) };
  }

  #measure(options: unknown, context: HostCallContext): Promise<Vitals> {
    const { timeout } = membersOf(options, 'agent.vitals', ['timeout']);
    const timeoutMs = timeoutOf(timeout) ?? VITALS_MS;
    const args = options === null || options === undefined ? [] : [options];
    const call = {
      method: 'vitals',
      shownArgs: () => [],
      source: () => callSource('vitals', args),
      touched: () => false,
      tab: () => (this.#tabs.all.length === 0 ? undefined : this.#tabs.active),
      picture: 'after',
    } as const;
    return this.#steps.run(call, context.site, async () => {
      const tab = this.#tabs.active;
      const bounds = boundsOf(context, timeoutMs);
      await settled(tab, bounds);
      return vitalsOf(tab, bounds);
    });
  }
}
