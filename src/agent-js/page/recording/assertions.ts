import { foldSpace } from '../../locating/locator.js';
import { shownValue } from '../controls/descriptor.js';
import { drawnText } from '../names/accessible-name.js';
import { checkedState, inputKind, isControl } from '../names/roles.js';
import { isElement, isHtml } from '../tree/flat-tree.js';
import { innermost } from '../tree/innermost.js';
import { targetToAssert } from './target.js';
import { type Teller, told } from './teller.js';

/** A longer text is nothing that an assertion repeats. */
const MAX_TEXT = 500;

/** Assertions by pointing: with Alt and Shift held, or while it is switched on, a click says what is there. */
export class Assertions {
  /** The next click asserts, with no key held. */
  armed = false;
  readonly #teller: Teller;
  #holding = false;

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  /** True: the event is part of an assertion, and the page is not to hear of it. */
  takes(event: MouseEvent): boolean {
    const begins = event.type === 'pointerdown' || (event.type === 'mousedown' && !this.#holding);
    if (begins && (this.armed || (event.altKey && event.shiftKey)) && event.button === 0) {
      this.#holding = true;
      this.armed = false;
      const hit = innermost(event);
      if (isElement(hit)) this.#assert(hit);
    }
    if (!this.#holding) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    // The last event of a click.
    if (event.type === 'click') this.#holding = false;
    return true;
  }

  #assert(hit: Element): void {
    const { element, recorded } = targetToAssert(hit);
    const checked = checkedState(element);
    const isInput = isHtml(element, 'input');
    const isField = (isInput || isHtml(element, 'textarea')) && inputKind(element) !== 'none';
    const text = foldSpace(drawnText(element));
    if (checked === true || checked === false) this.#teller.expect(recorded, 'checked', checked);
    else if (isInput && element.type === 'password') this.#teller.expect(recorded, 'visible', null);
    else if (isField) this.#teller.expect(recorded, 'value', told(shownValue(element)));
    else if (isControl(element) || text === '' || text.length > MAX_TEXT)
      this.#teller.expect(recorded, 'visible', null);
    else this.#teller.expect(recorded, 'text', text);
  }
}
