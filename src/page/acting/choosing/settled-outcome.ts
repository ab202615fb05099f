import { nextChange } from '../../changes.js';
import type { TypedOutcome } from '../../page-calls.js';

/** What was chosen is shown by then, in milliseconds: a page may ask its server, or draw the control anew. */
const SHOWN_MS = 500;

/** What a control shows of a choice, asked again at each change of the page until it shows the choice, or for 500 ms. */
export async function settledOutcome(outcomeNow: () => TypedOutcome | null): Promise<TypedOutcome | null> {
  const deadline = performance.now() + SHOWN_MS;
  for (;;) {
    const outcome = outcomeNow();
    const left = deadline - performance.now();
    if (outcome?.kind !== 'other' || left <= 0) return outcome;
    await nextChange(Math.min(left, 50), 0);
  }
}
