import { createRequire } from 'node:module';
import { z } from 'zod';
import { readFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, toAnswer } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';
import { type AuditRequest, IMPACTS, type Impact } from './audit-arguments.js';

/** Elements that are named for one rule; all are counted. */
const MAX_ELEMENTS = 20;
const MAX_HTML = 300;
/** The isolated world in which axe runs: the page sees nothing of it, and its content security policy does not matter. */
const WORLD = 'troupe-audit';

/** A rule that a page breaks. */
export interface Violation {
  /** As axe names it: `image-alt`. */
  readonly id: string;
  readonly impact: Impact;
  readonly help: string;
  readonly url: string;
  /** How many elements break it; the first 20 of them. */
  readonly count: number;
  readonly elements: readonly { readonly locator: string; readonly html: string }[];
}

export interface Audit {
  readonly violations: readonly Violation[];
  /** Rules that the page keeps, and those of which axe cannot tell. */
  readonly passed: number;
  readonly undecided: number;
  /** Frames, which are not audited. */
  readonly frames: number;
}

const Answer = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.enum(IMPACTS).catch('minor'),
      help: z.string(),
      url: z.string(),
      count: z.int(),
      elements: z.array(z.object({ locator: z.string(), html: z.string() })),
    }),
  ),
  passed: z.int(),
  undecided: z.int(),
  frames: z.int(),
});

let source: Promise<string> | undefined;

/** axe-core, read when the first page is audited. */
function axeSource(): Promise<string> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js')).then(String);
  return source;
}

/** Runs in the page, in a world of its own. */
const RUN = `async ({within, exclude, tags}, most, longest) => {
  const root = within === null ? document : document.querySelector(within);
  if (root === null) return null;
  const found = await axe.run(
    {include: [root], exclude: exclude.flatMap((one) => [...document.querySelectorAll(one)])},
    {iframes: false, resultTypes: ['violations'], ...(tags.length === 0 ? {} : {runOnly: {type: 'tag', values: tags}})},
  );
  const violations = found.violations.map(({id, impact, help, helpUrl, nodes}) => ({
    id, impact, help, url: helpUrl, count: nodes.length,
    elements: nodes.slice(0, most).map(({target, html}) => ({locator: target.flat(9).join(' '), html: html.slice(0, longest)})),
  }));
  const frames = document.querySelectorAll('iframe, frame').length;
  return {violations, passed: found.passes.length, undecided: found.incomplete.length, frames};
}`;

/**
 * Looks for barriers to people with disabilities in the page's own document, by the rules of axe-core.
 *
 * @throws SCRIPT_ERROR for a selector or a tag that is wrong; LOCATOR_NOT_FOUND if nothing is to be audited; WAIT_TIMEOUT
 */
export async function auditPage(tab: Tab, request: AuditRequest, bounds: Bounds): Promise<Audit> {
  tab.throwIfGone();
  if (tab.dialog !== null) throw tab.dialogError();
  const world = { frameId: tab.targetId, worldName: WORLD };
  const { executionContextId: contextId } = await tab.command('Page.createIsolatedWorld', world, bounds);
  const isThere = await tab.command('Runtime.evaluate', { expression: 'typeof axe', contextId }, bounds);
  if (isThere.result.value !== 'object') {
    await tab.command('Runtime.evaluate', { expression: await axeSource(), contextId }, bounds);
  }
  const { impact: _, ...wanted } = request;
  const expression = `(${RUN})(${JSON.stringify(wanted)}, ${MAX_ELEMENTS}, ${MAX_HTML})`;
  const params = { expression, contextId, awaitPromise: true, returnByValue: true };
  const asked = await tab.unlessDialog(tab.command('Runtime.evaluate', params, bounds), toAnswer(bounds));
  if (asked === 'dialog') throw tab.dialogError();
  const { result, exceptionDetails } = asked.value;
  if (exceptionDetails !== undefined) {
    const text = exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text;
    throw new TroupeError('SCRIPT_ERROR', `agent.audit: ${text.slice(0, 500)}`);
  }
  const answer = Answer.nullable().parse(result.value);
  if (answer === null) {
    throw new TroupeError('LOCATOR_NOT_FOUND', `agent.audit: no element matches ${request.within ?? ''}`);
  }
  return answer;
}
