import { TroupeError } from '../../protocol/errors.js';
import type { HostCall, HostCallContext } from '../../script/host-module.js';
import { boundsOf } from '../browser/bounds.js';
import { callSource } from '../call-source.js';
import { settled } from '../look/settled.js';
import type { Steps } from '../steps.js';
import type { Tabs } from '../tabs/tabs.js';
import { type Audit, auditPage, type Violation } from './audit.js';
import { type AuditRequest, auditArguments, IMPACTS } from './audit-arguments.js';

/** An audit of a large page takes seconds. */
const AUDIT_MS = 30_000;
/** Elements of one rule that a message names. */
const MAX_NAMED = 3;

/** `agent.audit`: one step, which fails if the page has barriers that are as bad as the gate. */
export class Audits {
  readonly calls: { readonly [method: string]: HostCall };
  readonly #tabs: Tabs;
  readonly #steps: Steps;
  readonly #redact: <T>(shown: T) => T;

  constructor(parts: { readonly tabs: Tabs; readonly steps: Steps; readonly redact: <T>(shown: T) => T }) {
    this.#tabs = parts.tabs;
    this.#steps = parts.steps;
    this.#redact = parts.redact;
    this.calls = { audit: ([options], context) => this.#audit(options, context) };
  }

  #audit(options: unknown, context: HostCallContext): Promise<Audit> {
    const { timeoutMs = AUDIT_MS, ...request } = auditArguments(options);
    const began = { at: new Date().toISOString(), from: performance.now() };
    const args = options === null || options === undefined ? [] : [options];
    const call = {
      method: 'audit',
      shownArgs: () => [],
      source: () => this.#redact(callSource('audit', args)),
      touched: () => false,
      tab: () => (this.#tabs.all.length === 0 ? undefined : this.#tabs.active),
      picture: 'after',
    } as const;
    return this.#steps.check(call, context.site, began, async () => {
      const bounds = boundsOf(context, timeoutMs);
      const tab = this.#tabs.active;
      await settled(tab, bounds);
      const result = await auditPage(tab, request, bounds);
      const failed = failing(result.violations, request);
      if (failed.length > 0) throw barriers(failed, result);
      return { result, waited: false };
    });
  }
}

/** The worst first. */
function failing(violations: readonly Violation[], { impact }: AuditRequest): readonly Violation[] {
  if (impact === null) return [];
  const rank = (one: Violation) => IMPACTS.indexOf(one.impact);
  const least = IMPACTS.indexOf(impact);
  return violations.filter((one) => rank(one) >= least).sort((one, other) => rank(other) - rank(one));
}

function barriers(failed: readonly Violation[], { violations }: Audit): TroupeError {
  const lines = failed.map(({ id, impact, help, count, elements }) => {
    const named = elements.slice(0, MAX_NAMED).map(({ locator }) => locator);
    const more = count > named.length ? ` and ${count - named.length} more` : '';
    return { path: id, message: `${impact}: ${help}: ${named.join(', ')}${more}` };
  });
  const what = failed.length === 1 ? 'breaks a rule' : `breaks ${failed.length} rules`;
  const message = `The page ${what} of accessibility:\n${lines.map(({ path, message }) => `${path}: ${message}`).join('\n')}`;
  return new TroupeError('MATCH_FAILED', message, { failures: lines, violations });
}
