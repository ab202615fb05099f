import { MAX_RECORDED_TEXT } from '../../../protocol/recording/limits.js';
import type { PageAct, RecordedTarget } from '../../../protocol/recording/recorded-act.js';
import { RECORDED } from '../../tabs/page-calls.js';

type ToldAct = Extract<PageAct['act'], { kind: 'act' }>;
type ActParts = Pick<ToldAct, 'action'> & Partial<Pick<ToldAct, 'value' | 'drag' | 'at' | 'secret'>>;

/** Tells the service of acts, and knows the last one: the next may be a part of it. */
export class Teller {
  #last: { readonly element: Element; readonly action: ToldAct['action'] } | null = null;

  /** @param replaces which acts just before it, on which element, this one has made needless */
  act(
    element: Element,
    target: RecordedTarget,
    { value = null, drag = null, at = null, secret = false, action }: ActParts,
    replaces: readonly ToldAct['action'][] = [],
    on: Element = element,
  ): void {
    const last = this.#last;
    const replaced = last !== null && last.element === on && replaces.includes(last.action);
    this.#last = { element, action };
    this.#tell({ kind: 'act', action, target, value, drag, at, secret }, replaced);
  }

  get lastElement(): Element | null {
    return this.#last?.element ?? null;
  }

  expect(target: RecordedTarget, what: 'visible' | 'text' | 'value' | 'checked', expected: string | boolean | null) {
    this.#last = null;
    this.#tell({ kind: 'expect', target, what, expected });
  }

  /** Something that a flow cannot repeat. */
  note(text: string): void {
    this.#last = null;
    this.#tell({ kind: 'note', text });
  }

  #tell(act: PageAct['act'], replaces = false): void {
    const call: unknown = Reflect.get(globalThis, RECORDED);
    if (typeof call === 'function') call(JSON.stringify({ act, replaces } satisfies PageAct));
  }
}

/** A text as it may be told. */
export function told(text: string): string {
  return text.slice(0, MAX_RECORDED_TEXT);
}
