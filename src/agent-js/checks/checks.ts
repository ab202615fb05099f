import { TroupeError } from '../../protocol/errors.js';
import type { EventData } from '../../protocol/events.js';
import type { CallSite, HostCallContext } from '../../script/host-module.js';
import { withoutSteps } from '../../script/source/source-step.js';
import { type Bounds, boundsOf, remainingMs } from '../browser/bounds.js';
import { membersOf, shown, timeoutOf } from '../call-arguments.js';
import { callSource } from '../call-source.js';
import type { StepCall, Steps } from '../steps.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import { type Check, checkOf } from './check.js';
import { Expectation } from './expectation.js';
import { pageChange } from './page-change.js';
import { SeenValues } from './seen-values.js';

/** Assertions under way; more than a few mean that scripts were stopped in the middle of one. */
const MAX_OPEN = 16;
/** `agent.until` calls its function again after this time, because not everything that it may read gives a sign. */
const CALL_AGAIN_MS = 250;
const MAX_SHOWN = 4_000;

/** An assertion whose sandbox tests a regular expression or calls a function between two host calls. */
interface Open {
  readonly bounds: Bounds;
  /** For `agent.until`: null. */
  readonly expectation: Expectation | null;
  /** For `agent.until`: what its function returned. */
  readonly seen: SeenValues;
  readonly began: { readonly at: string; readonly from: number };
}

/** What the sandbox is to do: nothing more, test a text, or call its function again. */
type Order = { readonly token: number; readonly text?: string } | { readonly waitedMs: number };

/** `agent.expect` and `agent.until`. Each is one step, however many host calls it takes. */
export class Checks {
  readonly #tabs: Tabs;
  readonly #steps: Steps;
  readonly #waitMs: number;
  readonly #redact: <T>(shown: T) => T;
  readonly #open = new Map<number, Open>();
  #last = 0;

  /** @param options.waitMs how long an assertion waits if it does not say */
  constructor(options: {
    readonly tabs: Tabs;
    readonly steps: Steps;
    readonly waitMs: number;
    readonly redact: <T>(shown: T) => T;
  }) {
    this.#tabs = options.tabs;
    this.#steps = options.steps;
    this.#waitMs = options.waitMs;
    this.#redact = options.redact;
  }

  /**
   * One call of an assertion. An assertion with a regular expression takes several: the sandbox tests each text that it
   * gets, and answers with its `round`, `{token, ok}`.
   */
  async expect(args: readonly unknown[], context: HostCallContext): Promise<Order> {
    const [locator, matcher, given, round] = args;
    const check = checkOf(locator, matcher, given);
    const call = this.#stepCall('expect', () => expectSource(check));
    const { token, ok } = roundOf(round);
    // A token that is not known belongs to an assertion that a replayed flow began: it begins again.
    const known = token === null ? undefined : this.#open.get(token);
    if (token !== null) this.#open.delete(token);
    const open = known ?? {
      bounds: boundsOf(context, check.timeoutMs ?? this.#waitMs),
      expectation: new Expectation(check, this.#tabs),
      seen: new SeenValues(),
      began: { at: new Date().toISOString(), from: performance.now() },
    };
    const { bounds, began } = open;
    const expectation = open.expectation ?? new Expectation(check, this.#tabs);
    const waits = async (): Promise<{ readonly kind: 'passed' } | { readonly kind: 'test'; readonly text: string }> => {
      if (known !== undefined && ok) return { kind: 'passed' };
      if (known === undefined) return expectation.next(bounds);
      expectation.waited = true;
      if (remainingMs(bounds) <= 0) throw expectation.failure();
      return expectation.next(bounds);
    };
    if (check.expected.kind !== 'pattern') {
      return this.#steps.check(call, context.site, began, async () => {
        await waits();
        return { result: { waitedMs: expectation.waitedMs }, waited: expectation.waited };
      });
    }
    let passed = false;
    try {
      const outcome = await waits();
      if (outcome.kind === 'test') return { token: this.#keep({ ...open, expectation }), text: outcome.text };
      passed = true;
    } catch (error) {
      return this.#steps.check(call, context.site, began, () => Promise.reject(error));
    }
    const result = { waitedMs: expectation.waitedMs };
    return this.#steps.check(call, context.site, began, async () => ({ result, waited: passed && expectation.waited }));
  }

  /**
   * One round of `agent.until`. The first one says how long; each later one comes with what the function gave, `{token,
   * ok, value}`, and is answered when it is to be called again.
   *
   * @throws MATCH_FAILED at the deadline
   */
  async until(args: readonly unknown[], context: HostCallContext): Promise<Order> {
    const [source, options, round] = args;
    const { timeout } = membersOf(options, 'agent.until', ['timeout']);
    const text = typeof source === 'string' ? withoutSteps(source) : '';
    const { token, ok, value } = roundOf(round);
    const known = token === null ? undefined : this.#open.get(token);
    const open = known ?? {
      bounds: boundsOf(context, timeoutOf(timeout) ?? this.#waitMs),
      expectation: null,
      seen: new SeenValues(),
      began: { at: new Date().toISOString(), from: performance.now() },
    };
    if (token !== null) this.#open.delete(token);
    if (token === null) return { token: this.#keep(open) };
    const { bounds, began } = open;
    const waitedMs = Math.round(performance.now() - began.from);
    const received = typeof value === 'string' ? value.slice(0, MAX_SHOWN) : 'undefined';
    if (!ok) open.seen.note(received, waitedMs);
    const call = this.#stepCall('until', () => `agent.until(${text})`);
    if (ok) {
      const waited = waitedMs > CALL_AGAIN_MS;
      return this.#steps.check(call, context.site, began, async () => ({ result: { waitedMs }, waited }));
    }
    if (remainingMs(bounds) > 0) {
      await pageChange(this.#activeTab(), CALL_AGAIN_MS, bounds);
      return { token: this.#keep(open) };
    }
    const message = `agent.until: the function did not return a truthy value; its last value is ${received.slice(0, 300)} (waited ${waitedMs} ms)`;
    const history = open.seen.all;
    const details = { expected: 'a truthy value', received, history, waitedMs };
    const failed = new TroupeError('MATCH_FAILED', message, details);
    return this.#steps.check(call, context.site, began, () => Promise.reject(failed));
  }

  /** Records a `match` that failed as a step; the sandbox has compared already. */
  matchFailed({ js, error, kind = 'script', flow, line, column }: EventData<'AssertionChecked'>): void {
    const site: CallSite = {
      kind,
      flow: flow ?? null,
      flowRun: null,
      line: line ?? null,
      column: column ?? null,
    };
    const began = { at: new Date().toISOString(), from: performance.now() };
    const call = this.#stepCall('match', () => js ?? 'match(...)');
    const failed = new TroupeError('MATCH_FAILED', error ?? 'match failed');
    this.#steps.check(call, site, began, () => Promise.reject(failed)).catch(() => undefined);
  }

  #keep(open: Open): number {
    this.#last += 1;
    this.#open.set(this.#last, open);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_OPEN) break;
      this.#open.delete(oldest);
    }
    return this.#last;
  }

  #stepCall(method: string, source: () => string): StepCall {
    return {
      method,
      shownArgs: () => [],
      source: () => this.#redact(source()),
      touched: () => false,
      tab: () => this.#activeTab(),
      picture: 'after',
    };
  }

  #activeTab(): Tab | undefined {
    return this.#tabs.all.length === 0 ? undefined : this.#tabs.active;
  }
}

/** An assertion as its author would write it. */
function expectSource({ locator, matcher, not, name, expected, timeoutMs }: Check): string {
  const values: string[] = name === null ? [] : [JSON.stringify(name)];
  if (expected.kind === 'text') values.push(shown(expected.text));
  if (expected.kind === 'pattern') values.push(expected.text);
  if (expected.kind === 'list') values.push(shown(expected.texts));
  if (expected.kind === 'count') values.push(String(expected.count));
  if (timeoutMs !== undefined) values.push(`{timeout: ${timeoutMs}}`);
  const subject = locator === null ? 'agent.expect(agent)' : callSource('expect', [locator]);
  return `${subject}.${not ? 'not.' : ''}${matcher}(${values.join(', ')})`;
}

function roundOf(round: unknown): { readonly token: number | null; readonly ok: boolean; readonly value: unknown } {
  const { token, ok, value } = membersOf(round, 'agent.expect', ['token', 'ok', 'value']);
  return { token: typeof token === 'number' ? token : null, ok: ok === true, value };
}
