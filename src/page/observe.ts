import { fieldValue } from './acting/field.js';
import { nextChange } from './changes.js';
import { parseLocator } from './locator.js';
import { drawnText } from './names/accessible-name.js';
import { flatText } from './names/flat-text.js';
import { checkedState } from './names/roles.js';
import { isProblem, type Observation, type Observed, type ObserveRequest } from './page-calls.js';
import { isRendered, matchesOf, resolve } from './resolve.js';
import { isDisabled } from './tree/visibility.js';

/** Styles, and what scripts change outside of the document, give no sign: the element is read again after this time. */
const READ_AGAIN_MS = 100;
/** Longer texts are truncated. */
const MAX_TEXT = 1_000_000;

/** What assertions read of the page, with an id for each different reading, so that a caller can wait for another one. */
export class Observer {
  /** Unlike those of the document before. */
  readonly #document = Math.random().toString(36).slice(2);
  #count = 0;
  #last: { readonly about: string; readonly json: string; readonly id: string } | null = null;

  /** Reads at once, or waits up to `ms` for a reading that differs from `since`. */
  async observe(request: ObserveRequest): Promise<Observation> {
    const deadline = performance.now() + request.ms;
    for (;;) {
      const startedAt = performance.now();
      const observed = read(request);
      const id = this.#idOf(request, observed);
      const now = performance.now();
      if (id !== request.since || now >= deadline) return { id, observed };
      await nextChange(Math.min(READ_AGAIN_MS, deadline - now), now - startedAt);
    }
  }

  #idOf({ locator, look, what, name }: ObserveRequest, observed: Observed): string {
    const about = JSON.stringify([locator, look, what, name]);
    const json = JSON.stringify(observed);
    if (this.#last?.about !== about || this.#last.json !== json) {
      this.#count += 1;
      this.#last = { about, json, id: `${this.#document}.${this.#count}` };
    }
    return this.#last.id;
  }
}

function read(request: ObserveRequest): Observed {
  const { locator, what, explain } = request;
  if (what === 'title') return { kind: 'value', value: document.title };
  if (locator === null) {
    const page: Element | null = document.body ?? document.documentElement;
    return { kind: 'value', value: page === null ? '' : textOf(page) };
  }
  if (what === 'count') return countOf(locator);
  const element = resolve({ ...request, locator }, { hidden: what !== 'visible', explain });
  if (isProblem(element)) return { kind: 'problem', problem: element };
  return { kind: 'value', value: stateOf(element, request) };
}

function countOf(source: string): Observed {
  const locator = parseLocator(source);
  try {
    if (locator !== undefined) {
      const all = matchesOf(locator).length;
      const index = locator.kind === 'text' ? locator.index : undefined;
      return { kind: 'value', value: index === undefined ? all : Number(all >= index) };
    }
  } catch {
    // Malformed: resolve says how.
  }
  const problem = resolve({ locator: source });
  return isProblem(problem) ? { kind: 'problem', problem } : { kind: 'value', value: 1 };
}

function stateOf(element: Element, { what, name }: ObserveRequest): unknown {
  switch (what) {
    case 'text':
      return textOf(element);
    case 'value':
      return fieldValue(element);
    case 'enabled':
      return !isDisabled(element);
    case 'checked':
      return checkedState(element);
    case 'visible':
      return isRendered(element);
    case 'attribute':
      return name === null ? null : element.getAttribute(name);
    default:
      return true;
  }
}

function textOf(element: Element): string {
  const lines = flatText(element);
  return (lines === '' ? drawnText(element) : lines).slice(0, MAX_TEXT);
}
