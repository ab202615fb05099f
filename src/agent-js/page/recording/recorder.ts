import { Assertions } from './assertions.js';
import { Entries } from './entries.js';
import { Hovers } from './hovers.js';
import { Presses } from './presses.js';
import { Teller } from './teller.js';
import { Wheels } from './wheels.js';

const PRESSES = new Set(['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'contextmenu']);

/** Writes down what a person does in the documents that reach one another. Only what the browser itself says counts. */
export class Recorder {
  readonly #assertions: Assertions;
  readonly #entries: Entries;
  readonly #presses: Presses;
  readonly #hovers: Hovers;
  readonly #wheels: Wheels;

  constructor() {
    const teller = new Teller();
    this.#assertions = new Assertions(teller);
    this.#entries = new Entries(teller);
    this.#hovers = new Hovers(teller);
    this.#wheels = new Wheels(teller);
    this.#presses = new Presses(teller, (element) => {
      this.#wheels.before(element);
      this.#hovers.before(element);
    });
  }

  /** The next click asserts, with no key held. */
  assertNext(): void {
    this.#assertions.armed = true;
  }

  /** Before any listener of the page. */
  hear(event: Event): void {
    if (!event.isTrusted) return;
    if (isPointer(event) && this.#pointer(event)) return;
    switch (event.type) {
      case 'dragstart':
        this.#presses.dragStart();
        return;
      case 'drop':
        this.#presses.drop(event as DragEvent);
        return;
      case 'keydown':
        this.#entries.keyDown(event as KeyboardEvent);
        return;
      case 'keyup':
        this.#entries.keyUp();
        return;
      case 'beforeinput':
        this.#entries.beforeInput(event);
        return;
      case 'input':
        this.#entries.input(event);
        return;
      case 'change':
        this.#entries.change(event);
        return;
      default:
    }
  }

  /** After the listeners of the page, unless they stopped it. */
  hearEnd(event: Event): void {
    if (!event.isTrusted) return;
    if (event.type === 'keydown') this.#entries.keyDownEnded(event as KeyboardEvent);
    else if (event.type === 'wheel') this.#wheels.turnEnded(event);
    else this.#presses.downEnded(event);
  }

  #pointer(event: MouseEvent): boolean {
    if (PRESSES.has(event.type) && this.#assertions.takes(event)) return true;
    switch (event.type) {
      case 'pointerdown':
      case 'mousedown':
        this.#presses.down(event);
        return true;
      case 'pointermove':
      case 'mousemove':
        this.#presses.move(event);
        return true;
      case 'mouseover':
        this.#hovers.over(event);
        return true;
      case 'wheel':
        this.#wheels.turn(event as WheelEvent);
        return true;
      case 'pointerup':
      case 'mouseup':
        this.#presses.up(event);
        return true;
      case 'click':
        this.#presses.click(event);
        return true;
      case 'auxclick':
        this.#presses.auxClick(event);
        return true;
      case 'contextmenu':
        this.#presses.contextMenu(event);
        return true;
      default:
        return false;
    }
  }
}

/** Events of frames are of other classes than this document's. */
function isPointer(event: Event): event is MouseEvent {
  return 'clientX' in event && !('dataTransfer' in event);
}
