import { keyEvent } from '../../../agent-js/acting/keyboard.js';
import type { BrowserPort } from '../../../agent-js/browser/browser-port.js';
import type { CdpMethod, CdpParams } from '../../../agent-js/browser/cdp.js';
import { assertNever } from '../../../base/assert-never.js';
import type { PageInput } from '../../../protocol/control.js';
import { TroupeError } from '../../../protocol/errors.js';

/** A page that does not take its input by then hangs, or has a dialog open. */
const INPUT_MS = 5_000;
/** Characters of a selection that are handed out. */
const MAX_SELECTION = 65_536;
/** What is selected in the document, or in the field that has the focus; frames of the same origin are looked into. */
const SELECTION = `(() => {
  let root = document;
  let focus = root.activeElement;
  for (let depth = 0; focus && depth < 20; depth += 1) {
    const inside = focus.shadowRoot ?? focus.contentDocument;
    if (!inside) break;
    root = inside;
    focus = inside.activeElement;
  }
  const { value, selectionStart: from, selectionEnd: to, type } = focus ?? {};
  const inField = typeof value === 'string' && typeof from === 'number' && type !== 'password';
  const text = inField && to > from ? value.slice(from, to) : String((root.getSelection ? root : document).getSelection() ?? '');
  return text.slice(0, ${MAX_SELECTION});
})()`;

/** A person's hands on the page that is in front. What is sent in one turn of the event loop arrives in its order. */
export class InputDispatcher {
  readonly #browser: BrowserPort;
  readonly #activePage: () => string | undefined;
  /** What the page has not taken yet. */
  readonly #sent = new Set<Promise<unknown>>();

  /** @param activePage the CDP session of the tab that is on the screen */
  constructor(browser: BrowserPort, activePage: () => string | undefined) {
    this.#browser = browser;
    this.#activePage = activePage;
  }

  /**
   * Settles when the page has taken all of it.
   * @throws WAIT_TIMEOUT for a page that hangs or has a dialog open; ACTION_FAILED where there is no page
   */
  async send(inputs: readonly PageInput[]): Promise<null> {
    const sent = Promise.all(inputs.map((input) => this.#sendOne(input)));
    this.#sent.add(sent);
    try {
      await sent;
    } finally {
      this.#sent.delete(sent);
    }
    return null;
  }

  /** What is selected on the page, as text, when it has taken what was sent before. */
  async selection(): Promise<string> {
    // Input takes a longer way through the browser than scripts do.
    await Promise.allSettled(this.#sent);
    const order = { expression: SELECTION, returnByValue: true };
    const { result } = await this.#command('Runtime.evaluate', order);
    return typeof result.value === 'string' ? result.value : '';
  }

  #sendOne(input: PageInput): Promise<unknown> {
    switch (input.kind) {
      case 'mouse': {
        const { x, y, button, buttons, clicks, modifiers } = input;
        const type = MOUSE[input.action];
        return this.#command('Input.dispatchMouseEvent', {
          type,
          x,
          y,
          button,
          buttons,
          clickCount: clicks,
          modifiers,
        });
      }
      case 'wheel': {
        const { x, y, dx, dy, modifiers } = input;
        return this.#command('Input.dispatchMouseEvent', {
          type: 'mouseWheel',
          x,
          y,
          deltaX: dx,
          deltaY: dy,
          modifiers,
        });
      }
      case 'key':
        return this.#command('Input.dispatchKeyEvent', keyEvent(input));
      case 'touch': {
        const { action, points, modifiers } = input;
        return this.#command('Input.dispatchTouchEvent', { type: TOUCH[action], touchPoints: points, modifiers });
      }
      case 'text':
        return this.#command('Input.insertText', { text: input.text });
      default:
        return assertNever(input);
    }
  }

  #command<M extends CdpMethod>(method: M, params: CdpParams<M>) {
    const session = this.#activePage();
    if (session === undefined) throw new TroupeError('ACTION_FAILED', 'The browser has no page open');
    return this.#browser.send(method, params, { session, timeoutMs: INPUT_MS });
  }
}

const MOUSE = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const;
const TOUCH = { start: 'touchStart', move: 'touchMove', end: 'touchEnd', cancel: 'touchCancel' } as const;
