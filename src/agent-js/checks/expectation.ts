import { stretched } from '../../base/deadline.js';
import type { MissingProblem, Observed, PageProblem } from '../../page/page-calls.js';
import { type ErrorDetails, TroupeError } from '../../protocol/errors.js';
import { type Bounds, remainingMs } from '../browser/bounds.js';
import { insteadWords, problemError } from '../locating/problem-error.js';
import { dialogControl, dialogControls, meansDialog } from '../tabs/dialog-controls.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import { type Check, MATCHERS } from './check.js';
import { containsExpected, expectedText, failureSentence, judge, receivedText, wantsHidden } from './judge.js';
import { SeenValues } from './seen-values.js';

/** A page is asked again after this time, because another tab may be in front by then. */
const ROUND_MS = stretched(1_000);
/** A locator that means several elements, or an element that has gone, for so long does so for good. */
const STUCK_MS = stretched(1_000);

/** What came of waiting: the assertion holds, or its regular expression has to be tested on a text. */
export type Waited = { readonly kind: 'passed' } | { readonly kind: 'test'; readonly text: string };

/**
 * One assertion that waits. It reads the page, and reads it again when something has changed, until the assertion holds
 * or its time is over. It outlives navigations, new documents, and elements that are replaced.
 */
export class Expectation {
  /** Set by what the assertion does next with the page: it did not hold at once. */
  waited = false;
  readonly check: Check;
  readonly #tabs: Tabs;
  readonly #startedAt = performance.now();
  #tab: Tab | null = null;
  #since: string | null = null;
  #observed: Observed | null = null;
  #stuckSince: number | null = null;
  readonly #seen = new SeenValues();
  /** Whether the expected text is anywhere on the page; null: not known. */
  #elsewhere: boolean | null = null;

  constructor(check: Check, tabs: Tabs) {
    this.check = check;
    this.#tabs = tabs;
  }

  get waitedMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /**
   * Waits for the next reading that is worth something. Call it again when the regular expression did not match.
   *
   * @throws MATCH_FAILED at the deadline; LOCATOR_AMBIGUOUS and LOCATOR_STALE if that lasts; SCRIPT_ERROR for a locator
   *   that is malformed; ACTION_FAILED if a dialog is in the way
   */
  async next(bounds: Bounds): Promise<Waited> {
    for (;;) {
      // A regular expression that did not match the last reading: another one is needed.
      const mayRead = this.#observed === null || remainingMs(bounds) > 0;
      const observed = mayRead ? await this.#observe(bounds, true) : null;
      if (observed !== null) {
        this.#observed = observed;
        this.#seen.note(receivedText(this.check, observed), this.waitedMs);
        const verdict = judge(this.check, observed, this.#tabs.active.url);
        if (verdict.kind !== 'failed') return verdict;
        if (observed.kind === 'problem' && observed.problem.problem === 'syntax')
          throw this.#problemError(observed.problem);
      }
      this.waited = true;
      if (remainingMs(bounds) > 0 && !this.#isStuck(observed)) continue;
      const held = await this.#lastReading(bounds);
      if (held !== null) return held;
    }
  }

  /** The error of an assertion that does not hold, with the last reading. */
  failure(): TroupeError {
    const { check } = this;
    const observed = this.#observed ?? { kind: 'value', value: null };
    const problem = observed.kind === 'problem' ? observed.problem : null;
    const clashes = problem?.problem === 'ambiguous' || problem?.problem === 'stale';
    if (problem !== null && clashes && !(wantsHidden(check) && problem.problem === 'ambiguous')) {
      return this.#problemError(problem);
    }
    const received = this.#observed === null ? 'a page that does not answer' : receivedText(check, observed);
    const because = problem?.problem === 'missing' ? missingWords(problem) : null;
    const { waitedMs } = this;
    return new TroupeError('MATCH_FAILED', failureSentence(check, received, because, waitedMs), {
      ...this.#details(),
      expected: expectedText(check),
      received,
      history: this.#seen.all,
      ...(this.#elsewhere === null ? {} : { elsewhere: this.#elsewhere }),
      ...(problem?.problem === 'missing' ? { candidates: problem.near } : {}),
    });
  }

  #problemError(problem: PageProblem): TroupeError {
    const { code, message, details } = problemError(problem, this.check.locator ?? '', this.#tabs.active);
    const text = problem.problem === 'syntax' ? message : `${message} (waited ${this.waitedMs} ms)`;
    return new TroupeError(code, text, { ...details, ...this.#details() });
  }

  #details(): ErrorDetails {
    const { locator, matcher } = this.check;
    const { url, title } = this.#tabs.active;
    return { url, title, ...(locator === null ? {} : { locator }), matcher, waitedMs: this.waitedMs };
  }

  /** Reads once more, for near misses and the list of matches. The page may have come right meanwhile. */
  async #lastReading(bounds: Bounds): Promise<Waited | null> {
    const problem = this.#observed?.kind === 'problem';
    if (problem) {
      const observed = await this.#observe({ ...bounds, deadline: performance.now() }, false).catch(() => null);
      if (observed !== null) this.#observed = observed;
      const verdict = observed === null ? null : judge(this.check, observed, this.#tabs.active.url);
      if (verdict !== null && verdict.kind !== 'failed') return verdict;
    }
    await this.#seekElsewhere(bounds);
    throw this.failure();
  }

  /** Whether a text that an element should have is somewhere else on the page. */
  async #seekElsewhere(bounds: Bounds): Promise<void> {
    const { locator, matcher, not, expected } = this.check;
    if (locator === null || not || expected.kind !== 'text' || MATCHERS[matcher].takes !== 'text') return;
    const request = { locator: null, what: 'text', name: null, since: null, ms: 0, explain: false } as const;
    const now = { ...bounds, deadline: performance.now() };
    const asked = await this.#tabs.active.ask('observe', request, now).catch(() => null);
    const observed = asked?.kind === 'answer' ? asked.value.observed : null;
    if (observed?.kind === 'value') this.#elsewhere = containsExpected(this.check, String(observed.value));
  }

  /** Null if the document went meanwhile. */
  async #observe(bounds: Bounds, waits: boolean): Promise<Observed | null> {
    const tab = this.#tabs.active;
    const first = tab !== this.#tab || !waits;
    this.#tab = tab;
    const { locator, matcher, name } = this.check;
    const { what } = MATCHERS[matcher];
    if (what === 'url') {
      const last = this.#observed?.kind === 'value' ? this.#observed.value : null;
      if (!first) await tab.until(() => tab.url !== last || this.#tabs.active !== tab, bounds);
      return { kind: 'value', value: this.#tabs.active.url };
    }
    if (tab.dialog !== null) return this.#observeDialog(tab, bounds, first);
    const since = first ? null : this.#since;
    const stuckMs = this.#stuckSince === null ? ROUND_MS : this.#stuckSince + STUCK_MS - performance.now();
    const ms = since === null ? 0 : Math.max(0, Math.min(remainingMs(bounds), stuckMs, ROUND_MS));
    const request = { locator, what, name, since, ms, explain: !waits };
    const asked = await this.#unlessClosed(tab, () => tab.ask('observe', request, bounds));
    if (asked?.kind !== 'answer') {
      this.#since = null;
      return null;
    }
    this.#since = asked.value.id;
    return asked.value.observed;
  }

  /** A dialog holds the page: only the dialog itself can be read. */
  async #observeDialog(tab: Tab, bounds: Bounds, first: boolean): Promise<Observed> {
    const { dialog } = tab;
    const { locator, matcher } = this.check;
    const { what } = MATCHERS[matcher];
    if (!locator?.startsWith('{dialog')) throw tab.dialogError();
    const whole = meansDialog(locator);
    // The reading before was of this dialog: only the next one can differ.
    if (!first && this.#since === 'dialog') {
      await tab.until(() => tab.dialog !== dialog, {
        ...bounds,
        deadline: Math.min(bounds.deadline, performance.now() + ROUND_MS),
      });
    }
    this.#since = 'dialog';
    const open = tab.dialog;
    const control = dialogControl(open, locator);
    const found = open !== null && (whole || control !== undefined);
    if (what === 'count') return { kind: 'value', value: found ? 1 : 0 };
    if (!found) {
      const near = open === null ? [] : dialogControls(open).map((one) => one.locator);
      return { kind: 'problem', problem: { problem: 'missing', message: '', near, alike: near, says: [] } };
    }
    if (what === 'text') return { kind: 'value', value: open.message };
    if (what === 'value') return { kind: 'value', value: (whole ? open.input : control?.value) ?? '' };
    return { kind: 'value', value: what === 'visible' || what === 'enabled' ? true : null };
  }

  /** A tab that closes leaves another one in front, which is read next. */
  async #unlessClosed<T>(tab: Tab, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (tab.isClosed && this.#tabs.all.length > 0) return null;
      throw error;
    }
  }

  #isStuck(observed: Observed | null): boolean {
    const problem = observed?.kind === 'problem' ? observed.problem.problem : null;
    const clashes = (problem === 'ambiguous' && !wantsHidden(this.check)) || problem === 'stale';
    if (!clashes) {
      this.#stuckSince = null;
      return false;
    }
    this.#stuckSince ??= performance.now();
    return performance.now() - this.#stuckSince >= STUCK_MS;
  }
}

function missingWords(problem: MissingProblem): string {
  const { message } = problem;
  const text = message === '' ? 'it is not there' : `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return `${text}${insteadWords(problem)}`;
}
