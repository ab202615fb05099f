import type { Test } from 'tap';
import type { AgentFixture, Site } from './agent-fixture.js';

/** A page, a drag in it, and what is to come of it. */
export interface DragCase {
  readonly html: string;
  readonly drag: readonly [locator: string, value: unknown];
  /** What the answer says: its outcome; for `snapped`, how far it has moved; `untold`: none; or that the call fails. */
  readonly ends: 'moved' | 'copied' | 'removed' | 'dropped' | 'untold' | 'fails' | readonly [dx: number, dy: number];
  /** Of the answer; true unless it is given. */
  readonly changed?: boolean;
  /** An expression that is true in the page afterwards. */
  readonly proof: string;
}
export type DragCases = { readonly [what: string]: DragCase };

const FAULTS = 'window.faults = []; addEventListener("error", (event) => faults.push(event.message));';

/** Tries each case on a page of its own: what the call answers is as it is to be, and the page itself says so too. */
export function dragJudge(site: Site, { call, failure }: AgentFixture): (t: Test, cases: DragCases) => Promise<void> {
  return async (t, cases) => {
    for (const [what, { html, drag, ends, changed = true, proof }] of Object.entries(cases)) {
      await call('go', site.set('/drag', `<!doctype html><title>Drag</title><script>${FAULTS}</script>${html}`));
      const [locator, value] = drag;
      if (ends === 'fails') {
        const failed = await failure('act', locator, 'drag', value).catch(String);
        t.match(failed, { code: 'ACTION_FAILED', error: /dragged|followed the pointer/ }, what);
      } else {
        const answer = await call('act', locator, 'drag', value).catch((error: Error) => error.message);
        const outcome = typeof ends === 'string' ? { outcome: ends } : { outcome: 'snapped', by: ends };
        t.same(told(answer), { changed, drag: ends === 'untold' ? undefined : outcome }, what);
      }
      t.same(await call('page', `[${proof}, ...faults]`), [true], `${what}: the page says so too`);
    }
  };
}

/** What an answer says of a drag, in whole pixels; or why there is none. */
function told(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('changed' in answer)) return answer;
  const { changed, drag } = answer as { changed: boolean; drag?: { outcome: string; by?: readonly number[] } };
  if (drag?.by === undefined) return { changed, drag };
  return { changed, drag: { ...drag, by: drag.by.map((px) => Math.round(px) + 0) } };
}
